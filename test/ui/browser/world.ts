import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";
import type { Engine } from "../../support/database.ts";
import { CAN_SEND, privateMessage } from "../../support/telegram.ts";
import { signedIn } from "../browser.ts";

const DAY = 86_400_000;
/** How long ago the story begins. */
const DAYS = 35;

/** A small boutique's memory after five weeks, and the ids of what the screens show. */
export interface World {
  readonly app: TestApp;
  readonly key: string;
  readonly userId: string;
  readonly pendingId: string;
  readonly storeId: string;
  readonly factId: string;
  readonly contestedId: string;
  readonly messageId: string;
  /** Of a version of rules that changed the one before it. */
  readonly rulesId: string;
  dispose(): Promise<void>;
}

/** @param database absent = a new one of this engine */
export async function openWorld(
  engine: Engine,
  database?: Readonly<Record<string, string>>,
): Promise<World> {
  // The story ends at the real present: a browser drops cookies that were over long ago.
  let behind = DAYS * DAY;
  const clock = () => new Date(Date.now() - behind);
  const app = await openApp(engine, {
    clock,
    env: { ...CAN_SEND },
    ...(database && { database }),
  });
  const day = (n: number) => {
    behind = (DAYS - n) * DAY;
  };
  const told = await tell(
    app,
    async (n) => {
      // Somebody looks at the overview now and then, and what is there is counted.
      const { cookie } = await signedIn(app, OWNER_KEY);
      await app.http.inject({ url: "/ui", headers: { host: "localhost:3000", cookie } });
      day(n);
    },
    clock,
  );
  behind = 0;
  return { app, key: OWNER_KEY, ...told, dispose: () => app.dispose() };
}

async function writeRules(app: TestApp): Promise<string> {
  const browser = await signedIn(app, OWNER_KEY);
  const text = "# Tone\n\nBe brief and warm.\n\n# Returns\n\nWithin 14 days, with receipt.";
  await browser.submit("/ui/rules", { text, basedOn: "0", reason: "What the team agreed on" });
  const next = { text: text.replace("14", "30"), basedOn: "1", reason: "The winter offer" };
  const { html } = await browser.submit("/ui/rules", next);
  return /versions\/([0-9a-f-]+)"/.exec(html)?.[1] ?? "";
}

async function tell(app: TestApp, day: (n: number) => Promise<void>, clock: () => Date) {
  const say = async (from: number, first_name: string, text: string, message_id: number) => {
    const who = { id: from, first_name, username: `${first_name.toLowerCase()}${from}` };
    await app.telegram(
      privateMessage(from, {
        message_id,
        text,
        date: Math.floor(clock().getTime() / 1000),
        from: { ...who, is_bot: false },
        chat: { ...who, type: "private" },
      }),
    );
  };
  const remember = async (fact: Record<string, unknown>) =>
    String((await app.ok("remember_fact", fact)).factId);

  const { body: store } = await app.v1("POST", "/v1/stores", { slug: "paris", name: "Paris" });
  await app.v1("POST", "/v1/stores", { slug: "lyon", name: "Lyon" });
  await app.v1("POST", "/v1/keys", { name: "Shop assistant", pinAgentId: "maya" });

  const ana = { scope: "user", userId: "telegram:900" };
  await say(900, "Ana", "Hello! I am looking for a coat for the winter.", 1);
  await app.ok("set_user_status", { userId: ana.userId, status: "approved", reason: "A customer" });
  await day(2);
  await say(900, "Ana", "No wool please, I am allergic to it.", 2);
  const { messages } = (await app.ok("get_chat_history", { userId: ana.userId })) as {
    messages: { id: string; text: string }[];
  };
  const source = messages.find(({ text }) => text.includes("wool"))?.id ?? "";
  const factId = await remember({
    ...ana,
    key: "health.allergy",
    value: "Allergic to wool",
    confidence: 0.95,
    tier: "core",
    tags: ["clothes"],
    reasoning: "Said so herself when she asked for a coat",
    sourceMessageId: source,
  });
  await remember({
    ...ana,
    key: "size.coat",
    value: { size: "M", cut: "loose" },
    confidence: 0.85,
  });
  await day(6);
  await say(900, "Ana", "Cotton and linen are fine. My budget is around 200 euros.", 3);
  await remember({ ...ana, key: "budget.coat", value: 200, confidence: 0.8, tags: ["money"] });
  await remember({
    ...ana,
    key: "contact.language",
    value: "French",
    confidence: 0.7,
    agentId: "maya",
  });
  await day(12);
  await remember({
    ...ana,
    key: "likes.colour",
    value: "Dark green",
    confidence: 0.8,
    sourceMessageId: "seen-in-shop-1",
  });
  await day(20);
  await say(900, "Ana", "These days I would rather wear navy blue.", 4);
  const contestedId = await remember({
    ...ana,
    key: "likes.colour",
    value: "Navy blue",
    confidence: 0.8,
    sourceMessageId: "said-in-chat-4",
  });
  await app.ok("update_memory", { userId: ana.userId, key: "last_order", value: { id: "A-1042" } });

  await day(22);
  for (const [n, user, assistant] of [
    [1, "Do you open on Sundays?", "Yes, from noon until six."],
    [2, "And is there parking?", "Behind the house, two hours are free."],
  ] as const) {
    const turn = { userId: "web:visitor-7", channel: "web", conversationId: `talk-${n}` };
    await app.ok("archive_turn", { ...turn, userMessage: user, assistantMessage: assistant });
  }
  const visitor = { scope: "user", userId: "web:visitor-7" };
  await remember({ ...visitor, key: "travel.mode", value: "Comes by car", confidence: 0.7 });

  const rulesId = await writeRules(app);

  const shop = { scope: "store", storeId: "paris" };
  await remember({ ...shop, key: "hours.sunday", value: "12:00 to 18:00", confidence: 0.95 });
  await remember({ ...shop, key: "parking", value: "Behind the house", confidence: 0.9 });
  await remember({ scope: "org", key: "policy.returns", value: "30 days, with receipt" });
  await remember({
    scope: "org",
    key: "policy.delivery",
    value: "Free from 80 euros",
    tags: ["money"],
  });
  await remember({
    scope: "org",
    key: "watch.example_com.price",
    value: "The linen coat costs 189 euros at example.com",
    tier: "watch",
    confidence: 0.8,
  });

  await day(34);
  await say(901, "Ben", "Hi, may I ask you something?", 1);

  const idOf = async (userId: string) => {
    const { user } = await app.ok("get_user_context", { userId });
    return (user as { id: string }).id;
  };
  return {
    userId: await idOf(ana.userId),
    pendingId: await idOf("telegram:901"),
    storeId: String(store.id),
    factId,
    contestedId,
    messageId: source,
    rulesId,
  };
}
