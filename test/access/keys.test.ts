import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toolsOf, v1 } from "../isolation/rpc.ts";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
  });
  afterAll(() => app.dispose());

  const newKey = async (input: object = {}) =>
    (await app.v1("POST", "/v1/keys", { name: "test", ...input })).body as {
      key: string;
      info: { id: string; lastUsedAt: string | null };
    };
  const infoOf = async (id: string) => {
    const { body } = await app.v1("GET", "/v1/keys");
    return (body.keys as { id: string; lastUsedAt: string | null }[]).find((key) => key.id === id);
  };

  /** Every column of every row of every table, as text. */
  const everythingStored = () =>
    app.database.transactions.system("operator", async (tx) => {
      const tables = await tx.execute<{ name: string }>(
        sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
      );
      let text = "";
      for (const { name } of tables) {
        const rows = await tx.execute(sql`select t::text as row from ${sql.identifier(name)} t`);
        text += JSON.stringify(rows);
      }
      return text;
    });

  test("a key is shown once: neither tables nor lists nor files hold it, before and after its use", async () => {
    const { key, info } = await newKey({ name: "kept nowhere" });
    await toolsOf(app, key);
    await app.ok("update_memory", { userId: "1", key: "k", value: 1 }, key);
    const secret = key.slice("svr_".length);
    expect(secret).toMatch(/^[\w-]{43}$/);
    const stored = await everythingStored();
    expect(stored).toContain("kept nowhere");
    for (const hidden of [secret, OWNER_KEY, Buffer.from(key).toString("hex")]) {
      expect(stored).not.toContain(hidden);
    }
    const listed = await v1(app, OWNER_KEY, "GET", "/v1/keys");
    expect(listed.text).toContain(info.id);
    expect(listed.text).not.toMatch(/hash|[0-9a-f]{64}/);
    expect(listed.text).not.toContain(secret);
    if (app.env.DATA_DIR === undefined || engine === "postgres") return;
    await app.database.maintain("checkpoint");
    for (const entry of await readdir(app.env.DATA_DIR, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = await readFile(join(entry.parentPath, entry.name));
      expect([entry.name, file.includes(secret)]).toEqual([entry.name, false]);
    }
  });

  test("two keys of one name are two keys", async () => {
    const [one, two] = [await newKey({ name: "twin" }), await newKey({ name: "twin" })];
    expect(one.key).not.toBe(two.key);
    expect(one.info.id).not.toBe(two.info.id);
  });

  test("the last use is noted at the first one, and then at most once a minute", async () => {
    const { key, info } = await newKey();
    const noted = async () => (await infoOf(info.id))?.lastUsedAt;
    const version = () =>
      app.database.transactions.system("operator", (tx) =>
        tx.execute(sql`select xmin::text, ctid::text from api_keys where id = ${info.id}`),
      );
    expect(await noted()).toBeNull();
    const first = clock.now().toISOString();
    await toolsOf(app, key);
    expect(await noted()).toBe(first);
    const untouched = await version();
    clock.advance(60_000);
    await Promise.all(Array.from({ length: 20 }, () => toolsOf(app, key)));
    expect(await noted()).toBe(first);
    expect(await version()).toEqual(untouched);
    clock.advance(1);
    await Promise.all(Array.from({ length: 20 }, () => toolsOf(app, key)));
    expect(await noted()).toBe(clock.now().toISOString());
  });

  test("a revoked key is refused from the next request on, everywhere, and stays listed as revoked", async () => {
    const { key, info } = await newKey({ role: "admin" });
    expect((await v1(app, key, "GET", "/v1/keys")).status).toBe(200);
    const revokedAt = clock.now().toISOString();
    const answer = await app.v1("DELETE", `/v1/keys/${info.id}`);
    expect(answer.body).toMatchObject({ id: info.id, revokedAt });
    expect((await v1(app, key, "GET", "/v1/keys")).status).toBe(401);
    await expect(app.ok("recall", {}, key)).rejects.toThrow();
    clock.advance(1000);
    expect((await app.v1("DELETE", `/v1/keys/${info.id}`)).body).toMatchObject({ revokedAt });
    expect(await infoOf(info.id)).toMatchObject({ revokedAt, lastUsedAt: revokedAt });
  });

  test("a key that revokes itself has said its last word", async () => {
    const { key, info } = await newKey({ role: "owner" });
    expect((await v1(app, key, "DELETE", `/v1/keys/${info.id}`)).status).toBe(200);
    expect((await v1(app, key, "DELETE", `/v1/keys/${info.id}`)).status).toBe(401);
  });

  test("a key pins only what there is, and says what is wrong otherwise", async () => {
    const make = async (input: object) => {
      const { status, body } = await app.v1("POST", "/v1/keys", { name: "k", ...input });
      return [status, body.code];
    };
    expect(await make({ pinUserId: "01900000-0000-7000-8000-000000000000" })).toEqual([
      404,
      "NOT_FOUND",
    ]);
    expect(await make({ pinStoreId: "nowhere" })).toEqual([404, "NOT_FOUND"]);
    for (const input of [
      { pinUserId: "" },
      { pinUserId: "telegram:" },
      { pinUserId: "Tele gram:1" },
      { pinStoreId: "a\u0000b" },
      { pinAgentId: "Maya" },
      { defaultAgent: "../x" },
      { name: "" },
      { name: "x".repeat(101) },
      { name: "a\u0000b" },
      { role: "root" },
      { pins: { userId: "1" } },
    ]) {
      expect(await make(input)).toEqual([400, "INVALID_INPUT"]);
    }
  });

  test("a refused key leaves nothing behind, not even the person it would have pinned", async () => {
    const refused = await app.v1("POST", "/v1/keys", {
      name: "k",
      pinUserId: "telegram:4711",
      pinStoreId: "nowhere",
    });
    expect(refused.status).toBe(404);
    const read = await app.call("get_user_context", { userId: "telegram:4711" });
    expect(read.error?.code).toBe("NOT_FOUND");
  });

  test("the agent of a key is what its calls speak for, unless they name another one", async () => {
    const { key } = await newKey({ defaultAgent: "otis" });
    const write = async (extra: object) => {
      const fact = { scope: "user", userId: "1", key: "agent.of", value: 1, ...extra };
      const { factId } = await app.ok("remember_fact", fact, key);
      const { facts } = await app.ok("recall", { userId: "1", agentId: "faye" }, key);
      const known = (facts as { factId: string; agentId: string }[]).find(
        (f) => f.factId === factId,
      );
      return known?.agentId;
    };
    expect(await write({})).toBeUndefined();
    expect(await write({ agentId: "faye" })).toBe("faye");
  });
});
