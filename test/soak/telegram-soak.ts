/**
 * Soak of a channel in both directions: `node test/soak/telegram-soak.ts [updates = 10000] [chats = 500]`, on the embedded
 * database or on the one of DATABASE_URL.
 *
 * Posts updates of many chats as Telegram does (one at a time in each chat, many chats at once, each one to three times,
 * again until a 2xx) while the server is killed with SIGKILL five times and the agent runtime fails now and then. Then
 * looks whether every update is in the archive once, and whether every message of an approved person reached the runtime,
 * signed, at least once and in the order of its person. Prints one table; exits with 1 on any violation.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Runtime } from "./agent-runtime.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const KILLS = 5;
/** Telegram's own default. */
const CONNECTIONS = 40;
/** Of the chats, one in ten is of somebody who waits for approval. */
const PENDING_EVERY = 10;
const OWNER_KEY = "owner-key-of-the-soak-0123456789abcdef";
const WEBHOOK_SECRET = "secret-of-the-soak";
const SIGNING_SECRET = `whsec_${randomBytes(32).toString("base64")}`;

const [updates = 10_000, chats = 500] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "souvenir-soak-"));
const violations: string[] = [];
const runtime = new Runtime(SIGNING_SECRET, (fault) => violations.push(fault));
const startedAt = Date.now();

/** How many messages each chat sends. */
const lengths = new Array<number>(chats).fill(0);
for (let at = 0; at < updates; at++) lengths[at % chats] = (lengths[at % chats] ?? 0) + 1;
const isPending = (chat: number) => chat % PENDING_EVERY === 0;
const idOf = (chat: number) => 5_000_000_000 + chat;

let server: { child: ChildProcess; url: string } | undefined;
let deliveries = 0;
let refused = 0;
let taken = 0;

async function start(autoApprove: boolean): Promise<void> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      DATA_DIR: directory,
      PORT: "0",
      EMBEDDER: "none",
      LOG_LEVEL: "error",
      OWNER_KEY,
      RATE_LIMIT_PER_MINUTE: "0",
      TELEGRAM_WEBHOOK_SECRET: WEBHOOK_SECRET,
      TELEGRAM_AUTO_APPROVE: `${autoApprove}`,
      AGENT_WEBHOOK_URL: runtime.url,
      AGENT_WEBHOOK_SECRET: SIGNING_SECRET,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for (;;) {
    const url = /is ready at (http:\S+)/.exec(output)?.[1];
    if (url) {
      server = { child, url };
      child.stdout?.resume();
      return;
    }
    const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    output += chunk.toString();
  }
}

async function kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  const ended = server;
  server = undefined;
  ended?.child.kill(signal);
  if (ended && ended.child.exitCode === null) await once(ended.child, "exit");
}

/** Delivers an update until it is taken, as Telegram does. */
async function deliver(update: object): Promise<void> {
  for (;;) {
    deliveries++;
    try {
      const response = await fetch(`${server?.url ?? "http://127.0.0.1:9"}/webhooks/telegram`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-telegram-bot-api-secret-token": WEBHOOK_SECRET,
        },
        body: JSON.stringify(update),
      });
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // The server is being killed or started.
    }
    refused++;
    await wait(100);
  }
}

function updateOf(chat: number, at: number): object {
  const id = idOf(chat);
  return {
    update_id: 1_000 + chat + at * chats,
    message: {
      message_id: at + 1,
      // Telegram's dates are whole seconds: many messages share one.
      date: 1_772_359_200 + Math.floor(at / 3),
      chat: { id, type: "private", first_name: "P" },
      from: { id, is_bot: false, first_name: "P" },
      text: runtime.textOf(chat, at),
    },
  };
}

/** One chat's messages in order; some come again, at once or behind later ones. */
async function converse(chat: number, from: number): Promise<void> {
  const late: object[] = [];
  for (let at = from; at < (lengths[chat] ?? 0); at++) {
    const update = updateOf(chat, at);
    const times = randomInt(1, 4);
    await Promise.all(Array.from({ length: times === 2 ? 2 : 1 }, () => deliver(update)));
    if (times === 3) late.push(update, update);
    taken++;
    if (randomInt(4) === 0) for (const again of late.splice(0)) await deliver(again);
  }
  for (const again of late) await deliver(again);
}

async function call(tool: string, args: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${server?.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${OWNER_KEY}`,
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: tool, arguments: args },
    }),
  });
  const { result } = (await response.json()) as {
    result: { structuredContent: Record<string, unknown> };
  };
  return result.structuredContent;
}

async function checkArchive(): Promise<number> {
  let found = 0;
  for (let chat = 0; chat < chats; chat++) {
    const page = { userId: `telegram:${idOf(chat)}`, limit: 500 };
    const { messages } = await call("get_chat_history", page);
    const texts = (messages as { text: string }[]).map(({ text }) => text);
    const expected = Array.from({ length: lengths[chat] ?? 0 }, (_, at) =>
      runtime.textOf(chat, at),
    );
    if (JSON.stringify(texts) !== JSON.stringify(expected)) {
      violations.push(
        `chat ${chat}: archived ${texts.length} of ${expected.length}, or in disorder`,
      );
    }
    found += texts.length;
  }
  return found;
}

await runtime.listen();
await start(false);
const waiting = lengths.flatMap((_, chat) => (isPending(chat) ? [chat] : []));
await Promise.all(waiting.map((chat) => deliver(updateOf(chat, 0))));
taken += waiting.length;
await kill();
await start(true);

const order = lengths.map((_, chat) => chat).sort(() => randomInt(2) - 0.5);
const killing = (async () => {
  for (let kills = 1; kills < KILLS; kills++) {
    const goal = (updates * kills) / KILLS;
    while (taken < goal) await wait(20);
    await kill();
    await wait(randomInt(50, 500));
    await start(true);
  }
})();
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    for (let chat = order.pop(); chat !== undefined; chat = order.pop()) {
      await converse(chat, isPending(chat) ? 1 : 0);
    }
  }),
);
await killing;

const approved = lengths.reduce((sum, length, chat) => sum + (isPending(chat) ? 0 : length), 0);
const patience = Date.now() + 180_000;
while (runtime.distinct < approved && Date.now() < patience) await wait(200);
const archived = await checkArchive();
runtime.check(lengths, isPending);
await kill("SIGTERM");
await runtime.close();
rmSync(directory, { recursive: true, force: true });

console.table({
  updates,
  chats,
  deliveries,
  "not taken, sent again": refused,
  kills: KILLS,
  archived,
  "to forward": approved,
  forwarded: runtime.distinct,
  "forwarded again": runtime.receipts - runtime.distinct,
  "refused by the runtime": runtime.failures,
  seconds: Math.round((Date.now() - startedAt) / 1000),
  violations: violations.length,
});
for (const violation of violations.slice(0, 20)) console.error(violation);
process.exitCode = violations.length > 0 ? 1 : 0;
