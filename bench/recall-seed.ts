import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import { Remember } from "../src/facts/remember.ts";
import type { Entry, RecallSet } from "./recall-sets.ts";
import type { Services } from "./services.ts";

/** Messages in one delivery: one transaction. */
const DELIVERY = 50;
const CHANNEL = "bench";
/** For sets without times. */
const SOME_TIME = Date.UTC(2020, 0, 1);
/** Longer than a session's silence; so that a thousand are of one year. */
const APART_MS = 7 * 3_600_000;

/** The person whose memory a corpus is. */
export function personOf(set: RecallSet, corpus: string): string {
  return `${CHANNEL}:${set.name}/${corpus}`;
}

/**
 * Remembers every text of a set, as a chat would have brought it or as a tool would have stated it.
 *
 * @returns the data's id of each message and fact that was made
 */
export async function seedSet(
  services: Services,
  owner: Principal,
  set: RecallSet,
  setNow: (at: number) => void,
): Promise<Map<string, Entry>> {
  const made = new Map<string, Entry>();
  for (const [corpus, entries] of Map.groupBy(set.entries, (entry) => entry.corpus)) {
    const times = entries.map(({ at }, n) => timeOf(at, n));
    setNow(Math.max(...times));
    const ids =
      set.kind === "facts"
        ? await stateFacts(services, owner, personOf(set, corpus), entries, times)
        : await archiveMessages(services, owner, personOf(set, corpus), entries, times);
    for (const [n, entry] of entries.entries()) made.set(ids[n] ?? "", entry);
  }
  return made;
}

/** Turns of one session carry one time; their order is the data's. What carries none was said at a time of its own. */
function timeOf(at: Date | null, n: number): number {
  return at ? at.getTime() + n : SOME_TIME + n * APART_MS;
}

async function stateFacts(
  { facts }: Services,
  owner: Principal,
  userId: string,
  entries: readonly Entry[],
  times: readonly number[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const [n, { text, key }] of entries.entries()) {
    const statement = Remember.parse({
      scope: "user",
      userId,
      // A key of its own for each, which says nothing: which of them mean the same is not asked here.
      key: key ?? `n${n}`,
      value: text,
      observedAt: new Date(times[n] ?? 0).toISOString(),
    });
    ids.push((await facts.remember(owner, statement)).factId);
  }
  return ids;
}

async function archiveMessages(
  { chat, users, database }: Services,
  owner: Principal,
  userId: string,
  entries: readonly Entry[],
  times: readonly number[],
): Promise<string[]> {
  const externalId = userId.slice(CHANNEL.length + 1);
  for (let at = 0; at < entries.length; at += DELIVERY) {
    const some = entries.slice(at, at + DELIVERY);
    await chat.archive({
      orgId: owner.orgId,
      channel: CHANNEL,
      account: "main",
      dedupeKey: `${externalId} ${at}`,
      receivedAt: new Date(times[at] ?? 0),
      autoApprove: true,
      actions: some.map(({ who, text, session }, n) => ({
        type: "message" as const,
        isEdit: false,
        message: {
          direction: who === "assistant" ? ("outbound" as const) : ("inbound" as const),
          kind: "text" as const,
          // Two people who talk to each other are told apart by their names, as in a group's export.
          text: who === "assistant" || who === "user" ? text : `${who}: ${text}`,
          sentAt: new Date(times[at + n] ?? 0),
          conversationId: session,
          platformMessageId: `${externalId}/${at + n}`,
          sender: { externalId },
          forwarded: false,
          payload: {},
        },
      })),
    });
  }
  const rows = await database.transactions.tenant(owner, async (tx) => {
    const person = await users.find(owner, userId, tx);
    return tx.execute<{ id: string; name: string }>(sql`
      select id, platform_message_id as name from chat_messages
      where org_id = ${owner.orgId} and user_id = ${person.userId}`);
  });
  const byName = new Map(rows.map(({ id, name }) => [name, id]));
  return entries.map((_, n) => byName.get(`${externalId}/${n}`) ?? "");
}
