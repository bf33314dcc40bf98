import { networkInterfaces } from "node:os";
import driver from "postgres";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { Database } from "../src/db/client.ts";
import { OWNER_KEY, TELEGRAM_SECRET } from "./support/app.ts";
import { createDatabase, onBothDatabases } from "./support/database.ts";
import { OwnPostgres } from "./support/own-postgres.ts";
import { ServerProcess, serveInVain } from "./support/server-process.ts";
import { privateMessage } from "./support/telegram.ts";

const SECRETS = { OWNER_KEY, TELEGRAM_WEBHOOK_SECRET: TELEGRAM_SECRET };

function deliver(server: ServerProcess, update: object): Promise<Response> {
  return fetch(`${server.url}/webhooks/telegram/main`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-telegram-bot-api-secret-token": TELEGRAM_SECRET,
    },
    body: JSON.stringify(update),
  });
}

async function history(server: ServerProcess, args: object) {
  const { value } = await server.call("get_chat_history", args, OWNER_KEY);
  return value?.messages as { text: string; sentAt: string }[];
}

const write = { userId: "telegram:1", key: "k", value: 1 };

describe.skipIf(inject("postgresUrl") === undefined)("on a PostgreSQL of its own", () => {
  let postgres: OwnPostgres;
  beforeAll(async () => {
    postgres = await OwnPostgres.create();
    await postgres.up();
  });
  afterAll(() => postgres.dispose());

  async function serves(DATABASE_URL: string, variables = {}): Promise<void> {
    const server = await ServerProcess.ready({ ...SECRETS, ...variables, DATABASE_URL });
    expect((await server.call("update_memory", write, OWNER_KEY)).error).toBeUndefined();
    await server.kill();
  }

  async function opens(url: string): Promise<void> {
    const { DATABASE_URL } = readConfig({ DATABASE_URL: url });
    const database = await Database.open({ url: DATABASE_URL, dataDir: "" });
    try {
      await database.prepare();
    } finally {
      await database.close();
    }
  }

  test("a role that may make roles needs no administrator", async () => {
    await postgres.query("create role maker login createrole password 'maker-password'");
    await postgres.query("create database made owner maker");
    const login = { user: "maker", password: "maker-password", database: "made" };
    await serves(postgres.url(login));
    await postgres.query("drop database made");
    await postgres.query("drop role souvenir_app");
  });

  test("a plain role is told in one sentence what an administrator must run, and then works", async () => {
    await postgres.query("create role plain login password 'plain-password'");
    await postgres.query("create database plain");
    const login = { user: "plain", password: "plain-password", database: "plain" };
    const DATABASE_URL = postgres.url(login);

    const { code, stdout, stderr } = await serveInVain({ ...SECRETS, DATABASE_URL });
    expect(code).toBe(1);
    expect(stdout).not.toContain("is ready");
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("plain-password");
    const made = await postgres.query(
      `select tablename as name from pg_tables where schemaname = 'public'
       union all select rolname from pg_roles where rolname = 'souvenir_app'`,
      "plain",
    );
    expect(made).toEqual([]);

    const [, statements = ""] = /run: (.*)$/.exec(stderr.trim()) ?? [];
    await postgres.query(statements.replaceAll("<user>", "plain"), "plain");
    await serves(DATABASE_URL);
  });

  test("special characters in DATABASE_URL work or are named, and the password is never printed", async () => {
    await postgres.query(String.raw`create role odd superuser login password 'p%w#/@:?\ w'`);
    await postgres.query("create role at superuser login password 'quokka@w'");
    await opens(postgres.url({ user: "odd", password: encodeURIComponent("p%w#/@:?\\ w") }));
    await opens(postgres.url({ user: "at", password: "quokka@w" }));

    await postgres.query("create schema x");
    await opens(`${postgres.url()}?options=-csearch_path%3Dx`);
    const inX = await postgres.query("select 1 from pg_tables where schemaname = 'x' limit 1");
    expect(inX).toHaveLength(1);

    for (const password of ["quokka%w", "quokka#w", "quokka/w", "wrong-quokka"]) {
      const DATABASE_URL = postgres.url({ user: "at", password });
      const refused = await serveInVain({ ...SECRETS, DATABASE_URL });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/DATABASE_URL: percent-encode|password authentication failed/);
      expect(refused.stdout + refused.stderr).not.toContain("quokka");
    }
  });

  const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === "::1"),
  );
  test.skipIf(!hasIPv6)("an IPv6 address is a host, alone and in a list", async () => {
    const { user, password } = { user: "at", password: "quokka@w" };
    for (const hosts of [
      `[::1]:${postgres.port}`,
      `[::1]:${postgres.port},127.0.0.1:${postgres.port}`,
    ]) {
      await opens(`postgres://${user}:${password}@${hosts}/postgres`);
    }
  });

  test("a search path that leads nowhere ends the start with the statement that helps", async () => {
    const DATABASE_URL = `${postgres.url()}?options=-csearch_path%3Dnowhere`;
    const { code, stderr } = await serveInVain({ ...SECRETS, DATABASE_URL });
    expect(code).toBe(1);
    expect(stderr).toMatch(/search_path.*CREATE SCHEMA <name>;\n$/);
  });

  test("TLS asked of a server without TLS is named in the log", async () => {
    const DATABASE_URL = `${postgres.url()}?sslmode=require`;
    const server = await ServerProcess.listening({ ...SECRETS, DATABASE_URL });
    await server.printed(/"reason":"the server of DATABASE_URL hung up when TLS was to begin/);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    await server.kill();
  });

  test("a Unix socket is reached by PGHOST", async () => {
    const socket = { PGHOST: postgres.folder, PGPORT: String(postgres.port) };
    await serves("postgres:///postgres", { ...socket, PGUSER: "at", PGPASSWORD: "quokka@w" });
  });

  test("a database that is down, comes, goes and comes back is waited for, and no message is lost", async () => {
    await postgres.down();
    const server = await ServerProcess.listening({ ...SECRETS, DATABASE_URL: postgres.url() });
    const get = async (path: string) => {
      const response = await fetch(server.url + path);
      return { status: response.status, body: await response.text() };
    };
    const update = privateMessage(5000000001, { message_id: 60, text: "keep me" });
    const isDown = async () => {
      expect((await get("/healthz")).status).toBe(200);
      const { status, body } = await get("/readyz");
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({
        code: "UNAVAILABLE",
        detail: expect.stringContaining("the database"),
      });
      const params = { name: "update_memory", arguments: write };
      const call = await server.rpc("tools/call", params, OWNER_KEY);
      expect(call.status).toBe(503);
      expect(await call.json()).toMatchObject({
        error: { message: expect.stringContaining("the database") },
      });
      expect((await deliver(server, update)).status).toBe(503);
    };

    await isDown();
    expect(server.output).not.toContain("is ready at");
    await postgres.up();
    await server.printed(/is ready at/);
    expect((await get("/readyz")).status).toBe(200);
    expect((await server.call("update_memory", write, OWNER_KEY)).error).toBeUndefined();

    await postgres.down();
    await isDown();
    await postgres.up();
    await expect.poll(async () => (await get("/readyz")).status, { timeout: 20_000 }).toBe(200);
    for (let delivery = 0; delivery < 2; delivery++) {
      expect((await deliver(server, update)).status).toBe(200);
    }
    const messages = await history(server, { userId: "telegram:5000000001" });
    expect(messages.map(({ text }) => text)).toEqual(["keep me"]);
    expect(await server.stop()).toBe(0);
  });
});

onBothDatabases((engine) => {
  test("times are the same wherever the clocks of server and database stand", async () => {
    const { env, dispose } = await createDatabase(engine);
    onTestFinished(dispose);
    if (env.DATABASE_URL !== undefined) {
      const sql = driver(env.DATABASE_URL, { max: 1 });
      const { pathname } = new URL(env.DATABASE_URL);
      await sql.unsafe(`alter database ${pathname.slice(1)} set timezone to 'Asia/Kolkata'`);
      await sql.end();
    }
    const zones = { TZ: "America/New_York", PGTZ: "Asia/Kolkata" };
    const server = await ServerProcess.ready({ ...SECRETS, ...zones, ...env });
    const update = privateMessage(5000000001, { message_id: 1, text: "t0" });
    expect((await deliver(server, update)).status).toBe(200);
    const userId = "telegram:5000000001";
    const sent = { text: "t0", sentAt: "2026-03-01T10:00:00.000Z" };
    expect(await history(server, { userId })).toMatchObject([sent]);
    expect(await history(server, { userId, before: "2026-03-01T10:00:01Z" })).toHaveLength(1);
    expect(await history(server, { userId, before: "2026-03-01T10:00:00Z" })).toEqual([]);
  });
});
