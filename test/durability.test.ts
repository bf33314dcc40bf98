import { expect, onTestFinished, test } from "vitest";
import { OWNER_KEY, openApp } from "./support/app.ts";
import { createDatabase } from "./support/database.ts";
import { ServerProcess } from "./support/server-process.ts";
import { privateMessage } from "./support/telegram.ts";

const ROUNDS = 20;
const WRITERS = 4;
const PARALLEL = 50;

test("no acknowledged write is lost by kill -9, twenty times in the middle of a write loop", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const acknowledged: { round: number; key: string }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await ServerProcess.ready({ ...env, OWNER_KEY, LOG_LEVEL: "warn" });
    // Another moment of the loop in each round; the writes of the other writers are on their way then.
    const enough = acknowledged.length + 4 + ((round * 5) % 16);
    const write = async (writer: number) => {
      for (let count = 0; ; count++) {
        const key = `w${writer}.${count}`;
        const entry = { userId: `telegram:${round}`, key, value: key };
        const answer = await server.call("update_memory", entry, OWNER_KEY);
        if (answer.error) throw new Error(answer.error.message);
        acknowledged.push({ round, key });
        if (acknowledged.length === enough) server.signal("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await server.exited();
    expect(acknowledged.length).toBeGreaterThanOrEqual(enough);
  }

  const last = await ServerProcess.ready({ ...env, OWNER_KEY });
  const burst = Array.from({ length: PARALLEL }, (_, index) => `p${index}`);
  await Promise.all(
    burst.map(async (key) => {
      const entry = { userId: "telegram:burst", key, value: key };
      expect((await last.call("update_memory", entry, OWNER_KEY)).error).toBeUndefined();
    }),
  );
  await last.kill();

  const survivor = await ServerProcess.ready({ ...env, OWNER_KEY });
  const memoryOf = async (person: number | string) => {
    const args = { userId: `telegram:${person}` };
    const { value } = await survivor.call("get_user_context", args, OWNER_KEY);
    return value?.memory as Record<string, unknown>;
  };
  const memories = await Promise.all(Array.from({ length: ROUNDS }, (_, round) => memoryOf(round)));
  const lost = acknowledged.filter(({ round, key }) => memories[round]?.[key] !== key);
  expect(lost).toEqual([]);
  expect(Object.keys(await memoryOf("burst")).sort()).toEqual(burst.sort());
}, 300_000);

test("thirty calls of every kind at once are all answered by the embedded database, three times over", async () => {
  const app = await openApp("embedded", { env: { TELEGRAM_AUTO_APPROVE: "true" } });
  onTestFinished(() => app.dispose());
  type Kind = (person: number, round: number) => Promise<unknown>;
  const kinds: Kind[] = [
    (person, round) =>
      app.ok("store_memory", {
        userId: `telegram:${person}`,
        entries: [
          { key: `r${round}`, value: round },
          { key: "last", value: round },
        ],
      }),
    (person, round) =>
      app.ok("remember_fact", {
        scope: "user",
        userId: `telegram:${person}`,
        key: "likes.tea",
        value: `cup ${round}`,
      }),
    (person) => app.ok("update_memory", { userId: `telegram:${person}`, key: "seen", value: true }),
    () => app.ok("recall", { query: "tea" }),
    async (person, round) => {
      const update = privateMessage(person, { message_id: round + 1, text: "one cup, please" });
      expect((await app.telegram(update)).status).toBe(200);
    },
    async () => {
      await app.database.maintain("vacuum (analyze)");
    },
  ];
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (kinds[index % kinds.length] as Kind)(1 + (index % 5), round),
      ),
    );
  }
  for (let person = 1; person <= 5; person++) {
    const { memory, recentMessages } = await app.ok("get_user_context", {
      userId: `telegram:${person}`,
    });
    expect(memory).toMatchObject({ r0: 0, r1: 1, r2: 2, last: 2, seen: true });
    expect(recentMessages).toHaveLength(3);
  }
});
