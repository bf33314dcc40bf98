import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { Database } from "../src/db/client.ts";
import { OWNER_KEY, TELEGRAM_SECRET } from "./support/app.ts";
import { ServerProcess } from "./support/server-process.ts";
import { privateMessage } from "./support/telegram.ts";

const disk = await mkdtemp(join(tmpdir(), "souvenir-disk-"));
const mount = (options: string) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk], { stdio: "ignore" });
/** At once, also where a server that is about to end still has files open. */
const unmount = () => execFileSync("umount", ["--lazy", disk]);
const makeRoom = () => mount("remount,size=200m");

function canMount(): boolean {
  try {
    mount("size=1m");
    unmount();
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!canMount())("on a disk that gets full (needs root, to mount a small one)", () => {
  beforeEach(() => mount("size=70m"));
  afterEach(unmount);
  afterAll(() => rm(disk, { recursive: true, force: true }));

  test("writes fail with a clear error, reads go on, the server is not ready, and nothing that was acknowledged is lost", async () => {
    const server = await ServerProcess.ready({
      DATA_DIR: join(disk, "data"),
      OWNER_KEY,
      TELEGRAM_WEBHOOK_SECRET: TELEGRAM_SECRET,
      RATE_LIMIT_PER_MINUTE: "0",
      LOG_LEVEL: "error",
    });
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`);
      return `${response.status} ${await response.text()}`;
    };
    const kept = async () => {
      const values: unknown[] = [];
      for (let person = 0; values.length < acknowledged.length; person++) {
        const args = { userId: `telegram:${person}`, recentLimit: 1 };
        const { value } = await server.call("get_user_context", args, OWNER_KEY);
        values.push(...Object.values(value?.memory as object));
      }
      return values.sort();
    };

    const acknowledged: string[] = [];
    const write = () => {
      const value = randomBytes(45_000).toString("base64");
      const userId = `telegram:${Math.floor(acknowledged.length / 10)}`;
      const entry = { userId, key: `k${acknowledged.length}`, value };
      return server.call("update_memory", entry, OWNER_KEY).then((answer) => {
        if (answer.value) acknowledged.push(value);
        return answer;
      });
    };
    let answer = await write();
    while (answer.value) answer = await write();
    expect(answer.error).toMatchObject({ code: "UNAVAILABLE" });
    expect(await ready()).toMatch(/^503 .*no space is left for the database/);
    expect(server.output).toMatch(/"level":50,.*no space is left for the database/);
    expect(await kept()).toEqual([...acknowledged].sort());
    const update = privateMessage(5000000001, { message_id: 1, text: "x".repeat(4000) });
    const deliver = async () => {
      const { status } = await fetch(`${server.url}/webhooks/telegram/main`, {
        method: "POST",
        headers: { "x-telegram-bot-api-secret-token": TELEGRAM_SECRET },
        body: JSON.stringify(update),
      });
      return status;
    };
    expect(await deliver()).toBe(503);

    makeRoom();
    expect((await write()).error).toBeUndefined();
    await expect.poll(ready, { timeout: 60_000, interval: 500 }).toMatch(/^200/);
    expect([await deliver(), await deliver()]).toEqual([200, 200]);
    const history = await server.call("get_chat_history", { userId: "5000000001" }, OWNER_KEY);
    expect(history.value?.messages).toHaveLength(1);
    expect(await kept()).toEqual([...acknowledged].sort());
  });

  test("a database that stopped for want of room for its log says so, and goes on when there is some", async () => {
    const database = await Database.open({ dataDir: join(disk, "data") });
    const troubles: string[] = [];
    database.onTrouble((trouble) => troubles.push(trouble));
    await database.prepare();
    const log = () =>
      database.transactions.system("operator", (tx) =>
        tx.execute(sql`select pg_logical_emit_message(false, 'test', repeat('x', 4000000))`),
      );
    const unavailable = { name: "AppError", code: "UNAVAILABLE" };
    const fill = async () => {
      for (;;) await log();
    };
    await expect(fill()).rejects.toMatchObject(unavailable);
    await expect(log()).rejects.toMatchObject(unavailable);
    await expect(database.ping()).rejects.toMatchObject(unavailable);
    expect(troubles).toContain("the embedded database broke down and is started again");
    expect(troubles.at(-1)).toMatch(/cannot start: .*No space left on device/);

    makeRoom();
    await log();
    await database.ping();
    await database.close();
  });
});
