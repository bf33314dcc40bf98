import { Agent, get, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import postgres from "postgres";
import { expect, inject, onTestFinished, test } from "vitest";
import { OWNER_KEY } from "../support/app.ts";
import { createDatabase, type Engine } from "../support/database.ts";
import { ServerProcess } from "../support/server-process.ts";

async function start(engine: Engine) {
  const database = await createDatabase(engine);
  onTestFinished(() => database.dispose());
  const env: Readonly<Record<string, string>> = { ...database.env, OWNER_KEY };
  return { env, server: await ServerProcess.ready(env) };
}

/** Holds everybody off the key-value map until released. */
async function lockMemory(url: string) {
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  onTestFinished(() => sql.end({ timeout: 0 }));
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const transaction = sql.begin(async (tx) => {
    await tx`lock table memory_kv in access exclusive mode`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  return {
    async waiting(): Promise<number> {
      const [row] = await sql`select count(*)::int as n from pg_locks
        where not granted and database = (select oid from pg_database where datname = current_database())`;
      return row?.n;
    },
    async release(): Promise<void> {
      released.resolve();
      await transaction;
    },
  };
}

/** The stream on which a client of the newest revision hears of changes. */
function listenStream(url: string): Promise<IncomingMessage> {
  const version = "2026-07-28";
  const sent = request(`${url}/mcp`, {
    method: "POST",
    agent: new Agent({ keepAlive: true }),
    headers: {
      authorization: `Bearer ${OWNER_KEY}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "subscriptions/listen",
    },
  });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "probe", version: "0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { toolsListChanged: true }, _meta };
  sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }));
  return new Promise((resolve, reject) => sent.on("response", resolve).on("error", reject));
}

async function refusesNewcomers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { headers: { connection: "close" } });
    return response.status === 503;
  } catch {
    return true;
  }
}

test.skipIf(inject("postgresUrl") === undefined)(
  "a stop answers the call that waits for the database, ends the open stream and lets no connection hold it",
  async () => {
    const { env, server } = await start("postgres");
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    await new Promise((resolve) =>
      get(`${server.url}/healthz`, { agent }, (response) => response.resume().on("end", resolve)),
    );
    const stream = await listenStream(server.url);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    const streamed = text(stream);
    const lock = await lockMemory(env.DATABASE_URL as string);
    const write = { userId: "telegram:1", key: "k", value: "kept" };
    const running = server.call("update_memory", write, OWNER_KEY);
    await expect.poll(lock.waiting).toBe(1);

    server.signal("SIGTERM");
    await expect.poll(() => refusesNewcomers(server.url)).toBe(true);
    expect(await streamed).toContain("event: message");
    await lock.release();
    expect((await running).value).toMatchObject({ key: "k", created: true });
    expect(await server.exited()).toBe(0);
    expect(server.output).not.toMatch(/"level":[56]0/);
  },
);

test("a stop amid a burst of writes loses none that was acknowledged", async () => {
  const { env, server } = await start("embedded");
  const results = Promise.allSettled(
    Array.from({ length: 60 }, (_, index) =>
      server.call(
        "update_memory",
        { userId: `telegram:${index % 6}`, key: `k${index}`, value: index },
        OWNER_KEY,
      ),
    ),
  );
  await server.call("get_user_context", { userId: "telegram:0" }, OWNER_KEY);
  expect(await server.stop()).toBe(0);
  const acknowledged = (await results).flatMap((result, index) =>
    result.status === "fulfilled" && result.value.value ? [index] : [],
  );
  expect(acknowledged.length).toBeGreaterThan(0);

  const again = await ServerProcess.ready(env);
  const kept = new Set<string>();
  for (const person of [0, 1, 2, 3, 4, 5]) {
    const answer = await again.call(
      "get_user_context",
      { userId: `telegram:${person}` },
      OWNER_KEY,
    );
    for (const key of Object.keys(answer.value?.memory ?? {})) kept.add(key);
  }
  expect(acknowledged.filter((index) => !kept.has(`k${index}`))).toEqual([]);
});
