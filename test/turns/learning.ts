import { and, asc, desc, eq, inArray } from "drizzle-orm";
import { chatMessages } from "../../src/db/schema/chat.ts";
import { factTables } from "../../src/db/schema/facts.ts";
import { jobs } from "../../src/db/schema/jobs.ts";
import { orgs } from "../../src/db/schema/orgs.ts";
import { extractionUsage, turns } from "../../src/db/schema/turns.ts";
import { channelIdentities, users } from "../../src/db/schema/users.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { AnthropicDouble } from "../support/anthropic-double.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import type { Engine } from "../support/database.ts";
import { editedMessage, privateMessage } from "../support/telegram.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const BOT = { id: 42, is_bot: true, first_name: "Atlas" };
let nextMessage = 100;

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Without an extractor. */
  readonly bare?: true;
}

/** A server that learns from a provider's double, with a clock that is moved by hand. Each test takes people of its own. */
export async function openLearning(engine: Engine, { env = {}, bare }: Options = {}) {
  const double = await AnthropicDouble.start();
  const clock = new TestClock();
  const lines: string[] = [];
  const options = {
    // Between two steps of a test nothing happens by itself.
    background: false,
    clock: clock.now,
    logStream: { write: (line: string) => void lines.push(line) },
    env: { TELEGRAM_AUTO_APPROVE: "true", LOG_LEVEL: "info", ...(bare ? {} : double.env), ...env },
  };
  const app = await openApp(engine, options);
  const replicas: TestApp[] = [];
  const system = <T>(work: (tx: Tx) => Promise<T>) =>
    app.database.transactions.system("operator", work);
  const seconds = () => Math.floor(clock.now().getTime() / 1000);

  return {
    app,
    clock,
    double,
    lines,
    system,
    /** Another process on the same database. */
    async replica(): Promise<TestApp> {
      const opened = await openApp(engine, { ...options, database: app.env });
      replicas.push(opened);
      return opened;
    },
    /** Lets nothing of the test before go on, neither its turns nor the pause after an outage. */
    async fresh(): Promise<void> {
      double.reset();
      await system(async (tx) => {
        const waiting = and(eq(jobs.kind, "turns.extract"), eq(jobs.state, "queued"));
        await tx.update(jobs).set({ state: "done" }).where(waiting);
        await tx
          .update(turns)
          .set({ state: "skipped", reason: "dismissed" })
          .where(inArray(turns.state, ["open", "closed"]));
        await tx.delete(extractionUsage);
        await tx
          .update(orgs)
          .set({ memoryEnabled: true, memoryOffShare: 0, extractionDailyLimit: null });
      });
      clock.advance(6 * MINUTE);
    },
    /** Lets a turn's eight attempts pass. */
    async exhaust(): Promise<void> {
      for (const minutes of [0.5, 1, 5, 15, 30, 60, 120]) {
        clock.advance(minutes * MINUTE);
        await app.jobs.runDue();
      }
    },
    /** Runs what is due, as a server does by itself. */
    settle: () => app.jobs.runDue(),
    /** Moves the clock and runs what is due then. */
    async later(milliseconds: number) {
      clock.advance(milliseconds);
      return app.jobs.runDue();
    },
    /** A person's message over Telegram. @returns Telegram's id of it */
    async say(person: number, text: string, fields: object = {}): Promise<number> {
      const message_id = nextMessage++;
      const update = privateMessage(person, { message_id, text, date: seconds(), ...fields });
      await posted(app, update);
      return message_id;
    },
    /** What the bot answers in the person's chat. */
    async answer(person: number, text: string): Promise<void> {
      const message_id = nextMessage++;
      await posted(app, privateMessage(person, { message_id, text, date: seconds(), from: BOT }));
    },
    async edit(person: number, message_id: number, text: string): Promise<void> {
      const fields = { message_id, text, date: seconds(), edit_date: seconds() };
      await posted(app, editedMessage(person, fields));
    },
    /** The same in a chat of a connected business account, where Telegram tells of deletions too. */
    business: (person: number) => {
      const business_connection_id = "biz";
      const post = async (kind: string, fields: object) => {
        const message_id = nextMessage++;
        const { message } = privateMessage(person, {
          message_id,
          date: seconds(),
          business_connection_id,
          ...fields,
        });
        await posted(app, { update_id: message_id + 1_000_000, [kind]: message });
        return message_id;
      };
      return {
        say: (text: string) => post("business_message", { text }),
        answer: (text: string) => post("business_message", { text, from: BOT }),
        edit: (message_id: number, text: string) =>
          post("edited_business_message", { message_id, text, edit_date: seconds() }),
        erase: (messageId: number) =>
          posted(app, {
            update_id: 2_000_000 + messageId,
            deleted_business_messages: {
              business_connection_id,
              chat: { id: person, type: "private", first_name: "Ana" },
              message_ids: [messageId],
            },
          }),
      };
    },
    /** A turn from a runtime without a webhook. */
    turn: (person: number, userMessage: string, more: object = {}) =>
      app.ok("archive_turn", {
        userId: `telegram:${person}`,
        channel: "web",
        conversationId: `c${person}`,
        userMessage,
        assistantMessage: "Noted.",
        ...more,
      }),
    /** Live facts of every scope, oldest first. */
    async facts() {
      const found = [];
      for (const scope of ["org", "store", "user"] as const) {
        const { table } = factTables[scope];
        const rows = await system((tx) => tx.select().from(table).orderBy(asc(table.id)));
        found.push(
          ...rows.map((row) => ({ ...row, scope, value: JSON.parse(row.value) as unknown })),
        );
      }
      return found;
    },
    async factsOf(person: number) {
      const userId = await idOf(system, person);
      const rows = await system((tx) =>
        tx
          .select()
          .from(factTables.user.table)
          .where(eq(factTables.user.owner, userId))
          .orderBy(asc(factTables.user.table.id)),
      );
      return rows.map((row) => ({ ...row, value: JSON.parse(row.value) as unknown }));
    },
    /** Newest first. */
    async turnsOf(person: number) {
      const userId = await idOf(system, person);
      const rows = await system((tx) =>
        tx
          .select()
          .from(turns)
          .where(eq(turns.userId, userId))
          .orderBy(desc(turns.openedAt), desc(turns.id)),
      );
      return rows.map((row) => ({
        ...row,
        dropped: row.dropped === null ? null : (JSON.parse(row.dropped) as unknown),
      }));
    },
    /** Oldest first. */
    async messagesOf(person: number) {
      const userId = await idOf(system, person);
      return system((tx) =>
        tx
          .select()
          .from(chatMessages)
          .where(eq(chatMessages.userId, userId))
          .orderBy(asc(chatMessages.sentAt), asc(chatMessages.id)),
      );
    },
    extractJobs: () =>
      system((tx) =>
        tx.select().from(jobs).where(eq(jobs.kind, "turns.extract")).orderBy(asc(jobs.id)),
      ),
    usage: () =>
      system((tx) => tx.select().from(extractionUsage).orderBy(asc(extractionUsage.day))),
    async set(person: number, changes: Partial<typeof users.$inferInsert>) {
      const userId = await idOf(system, person);
      await system((tx) => tx.update(users).set(changes).where(eq(users.id, userId)));
    },
    setOrg: (changes: Partial<typeof orgs.$inferInsert>) =>
      system((tx) => tx.update(orgs).set(changes).where(eq(orgs.slug, "default"))),
    userId: (person: number) => idOf(system, person),
    async metric(name: string): Promise<string[]> {
      const { body } = await app.http.inject({ url: "/metrics" });
      return body.split("\n").filter((line) => line.startsWith(name));
    },
    async close() {
      for (const replica of replicas) await replica.dispose();
      await app.dispose();
      await double.stop();
    },
  };
}

export type Learning = Awaited<ReturnType<typeof openLearning>>;

async function posted(app: TestApp, update: object): Promise<void> {
  const { status, body } = await app.telegram(update);
  if (status !== 200) throw new Error(`${status}: ${body}`);
}

async function idOf(
  system: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  person: number,
): Promise<string> {
  const [identity] = await system((tx) =>
    tx
      .select()
      .from(channelIdentities)
      .where(eq(channelIdentities.externalId, String(person))),
  );
  if (!identity) throw new Error("nobody has this id");
  return identity.userId;
}

/** A draft as a model returns it. */
export const draftOf = (key: string, value: unknown, more: object = {}) => ({
  from: 1,
  scope: "user",
  key,
  value,
  confidence: 0.8,
  tier: "preference",
  ...more,
});
