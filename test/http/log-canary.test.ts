import { expect, inject, onTestFinished, test } from "vitest";
import { OwnPostgres } from "../support/own-postgres.ts";
import { ServerProcess } from "../support/server-process.ts";
import { privateMessage } from "../support/telegram.ts";

/** Stands in every secret, text and value below, and must stand in no log line. */
const MARK = "quokka77";
const OWNER_KEY = `${MARK}-owner-key-0123456789abcdef`;
const TELEGRAM_SECRET = `${MARK}-telegram-secret`;
const userId = "telegram:5000000001";

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  readonly method?: string;
}

/** @returns the status */
async function send(url: string, { headers = {}, body, method = "POST" }: Sent): Promise<number> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Every tool that keeps something, in its good form. */
const WRITES: readonly [tool: string, args: object][] = [
  ["update_memory", { userId, key: `${MARK}.key`, value: { note: MARK } }],
  ["store_memory", { userId, entries: [{ key: "k", value: MARK }] }],
  [
    "remember_fact",
    { scope: "user", userId, key: "likes.tea", value: MARK, reasoning: MARK, tags: [MARK] },
  ],
  [
    "archive_turn",
    { userId, channel: "telegram", userMessage: `${MARK} asks`, assistantMessage: `${MARK} says` },
  ],
];
const READS: readonly [tool: string, args: object][] = [
  ["recall", { userId, query: MARK }],
  ["get_user_context", { userId, keys: [`${MARK}.key`] }],
  ["get_chat_history", { userId }],
];
/** What no tool takes: each part is quoted by somebody's error message. */
const REFUSED: readonly [tool: string, args: object][] = [
  ["update_memory", { userId, key: MARK.repeat(100), value: 1 }],
  ["update_memory", { userId, key: "k", value: 1, [MARK]: MARK }],
  ["remember_fact", { scope: MARK, key: `${MARK} !`, value: 1 }],
  ["get_chat_history", { userId, before: MARK }],
  ["forget_memory", { userId: `telegram:${MARK}`, keys: [MARK] }],
  ["forget_fact", { factId: MARK, reason: MARK }],
  [MARK, {}],
];

test.skipIf(inject("postgresUrl") === undefined)(
  "no log line holds a key, a secret, a message, a memory or a fact, whatever goes wrong",
  async () => {
    const postgres = await OwnPostgres.create();
    onTestFinished(() => postgres.dispose());
    await postgres.up();
    await postgres.query(`create role ${MARK} superuser login password '${MARK}'`);
    await postgres.query(`create database ${MARK} owner ${MARK}`);
    const login = { user: MARK, password: MARK, database: MARK };
    const server = await ServerProcess.ready({
      DATABASE_URL: postgres.url(login),
      OWNER_KEY,
      TELEGRAM_WEBHOOK_SECRET: TELEGRAM_SECRET,
      TELEGRAM_AUTO_APPROVE: "true",
      LOG_LEVEL: "debug",
    });
    const authorization = `Bearer ${OWNER_KEY}`;
    const call = async ([tool, args]: readonly [string, object]) => {
      const params = { name: tool, arguments: args };
      const response = await server.rpc("tools/call", params, OWNER_KEY);
      return { status: response.status, body: await response.text() };
    };
    const webhook = (body: string | object, secret = TELEGRAM_SECRET) =>
      send(`${server.url}/webhooks/telegram/main?token=${MARK}`, {
        headers: { "x-telegram-bot-api-secret-token": secret },
        body,
      });
    const update = (text: string) => privateMessage(5000000001, { message_id: 7, text });

    for (const good of [...WRITES, ...READS]) {
      expect((await call(good)).body, good[0]).toContain("structuredContent");
    }
    for (const bad of REFUSED) {
      expect((await call(bad)).body, bad[0]).not.toContain("structuredContent");
    }
    expect(await webhook(update(`${MARK} from Ana`))).toBe(200);
    expect(await webhook({ update_id: 9, [MARK]: MARK })).toBe(200);
    expect(await webhook(`{"update_id": ${MARK}`)).toBe(200);
    expect(await webhook(update(MARK), `${MARK}-wrong`)).toBe(401);

    const wrong = { authorization: `Bearer ${MARK}-wrong`, cookie: `session=${MARK}` };
    for (const path of ["/mcp", "/v1/keys"]) {
      const url = `${server.url}${path}?token=${MARK}&api_key=${MARK}`;
      expect(await send(url, { headers: wrong, body: { name: MARK } })).toBe(401);
      expect(await send(url, { headers: { authorization }, body: `{"${MARK}` })).toBe(400);
    }
    expect(await send(`${server.url}/${MARK}?token=${MARK}`, { method: "GET" })).toBe(404);
    const newKey = { headers: { authorization }, body: { name: MARK } };
    expect(await send(`${server.url}/v1/keys`, newKey)).toBe(201);

    const form = { "content-type": "application/x-www-form-urlencoded", origin: server.url };
    const signIn = (key: string) =>
      send(`${server.url}/ui/sign-in?token=${MARK}`, { headers: form, body: `key=${key}` });
    expect(await signIn(OWNER_KEY)).toBe(200);
    expect(await signIn(`${MARK}-wrong`)).toBe(401);
    const visitor = { method: "GET", headers: { cookie: `souvenir_session=${MARK}` } };
    expect(await send(`${server.url}/ui?search=${MARK}`, visitor)).toBe(200);

    // PostgreSQL quotes the failing row, then the statement.
    await postgres.query("alter table memory_kv add check (false) not valid", MARK);
    await postgres.query("alter table chat_messages drop column text", MARK);
    await postgres.query("drop table user_facts cascade", MARK);
    for (const write of WRITES) expect((await call(write)).body, write[0]).toContain("INTERNAL");
    expect(await webhook(update(`${MARK} lost`))).toBe(500);
    await postgres.down();
    for (const write of WRITES) expect((await call(write)).status, write[0]).toBe(503);
    expect(await webhook(update(`${MARK} lost`))).toBe(503);
    expect(await server.stop()).toBe(0);

    const lines = server.output.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.filter((line) => line.includes('"level":50')).length).toBeGreaterThan(4);
    expect(lines.length).toBeGreaterThan(40);
    expect(server.output).not.toMatch(new RegExp(MARK, "i"));
    expect(server.output).not.toMatch(/svr_[\w-]{20}/);
  },
);
