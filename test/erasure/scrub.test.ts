import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Database } from "../../src/db/client.ts";
import { scrubDatabase } from "../../src/db/scrub.ts";
import type { Erasure } from "../../src/erasure/erasure.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { OwnPostgres } from "../support/own-postgres.ts";
import { editedMessage, privateMessage } from "../support/telegram.ts";

const MARKER = "quokka77";
/** Longer than a page, and nothing that compresses: it lies outside its row. */
const BIG = `${MARKER} ${randomBytes(20_000).toString("base64")} ${MARKER}`;

/** The files below a folder that hold the marker. */
function filesWith(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const file = join(folder, name);
    return statSync(file).isFile() && /quokka77/i.test(readFileSync(file, "latin1"));
  });
}

describe.each(["embedded", "postgres"] as const)("on the %s database", (engine) => {
  let app: TestApp;
  let folder: string;
  let server: OwnPostgres | undefined;
  const lines: string[] = [];
  beforeAll(async () => {
    if (engine === "postgres") {
      server = await OwnPostgres.create();
      await server.up();
    }
    const clock = new TestClock().now;
    const options = {
      clock,
      background: false,
      logStream: { write: (line: string) => lines.push(line) },
    };
    const env = { LOG_LEVEL: "debug", TELEGRAM_AUTO_APPROVE: "true" };
    const database = server && { DATABASE_URL: server.url(), DATA_DIR: "/nonexistent" };
    app = await openApp(engine, { ...options, env, ...(database && { database }) });
    folder = server?.folder ?? app.env.DATA_DIR ?? "";
  });
  afterAll(async () => {
    await app.dispose();
    await server?.dispose();
  });

  test("after an erasure no file of the database holds a byte of the person's text", async () => {
    const userId = "telegram:5550001";
    for (let n = 0; n < 30; n++) {
      await app.telegram(
        privateMessage(5_550_001, { message_id: n + 1, text: `${MARKER} says ${n}` }),
      );
    }
    await app.telegram(editedMessage(5_550_001, { message_id: 1, text: `the edited ${MARKER}` }));
    for (const value of [BIG, { of: MARKER }, "overwritten"])
      await app.ok("update_memory", { userId, key: "note", value });
    await app.ok("update_memory", { userId, key: "big", value: BIG });
    const fact = { scope: "user", userId, key: "was.told", value: `${MARKER} is here` };
    const { factId } = await app.ok("remember_fact", fact);
    await app.ok("forget_fact", { factId, reason: "asked to" });
    await app.ok("remember_fact", { ...fact, key: "is.told", reasoning: MARKER });
    // What a planner and a checkpoint keep of it.
    for (const statement of ["analyze", "checkpoint"])
      await app.database.session(({ run }) => run(statement));
    const before = filesWith(folder);
    expect(before.some((name) => name.includes("pg_wal"))).toBe(true);
    expect(before.filter((name) => name.includes("base/")).length).toBeGreaterThan(3);

    const body = { kind: "user", userId, confirm: "5550001" };
    const asked = await app.v1("POST", "/v1/erasures", body);
    await app.jobs.runDue();

    const { body: entry } = await app.v1("GET", `/v1/erasures/${String(asked.body.id)}`);
    const { state, report } = entry as unknown as Erasure;
    expect(state).toBe("scrubbed");
    expect(report.scrub).toMatchObject({ statistics: true, log: true });
    expect(report.unverified).toEqual(["backups, and blocks that the file system freed"]);
    expect(filesWith(folder)).toEqual([]);
    expect(lines.join("")).not.toMatch(MARKER);
    expect(lines.length).toBeGreaterThan(30);
  });

  test.runIf(engine === "postgres")(
    "a table of another login is told, and keeps nothing waiting",
    async () => {
      await server?.query("create role plain login password 'plain'");
      await server?.query("create database plain owner plain");
      await server?.query(
        "create table theirs (id int); create table mine (id int); alter table mine owner to plain",
        "plain",
      );
      const url = server?.url({ user: "plain", password: "plain", database: "plain" });
      const database = await Database.open({ url, dataDir: "/nonexistent" });
      await server?.query("alter database plain owner to postgres");
      try {
        const { tables, unverified } = await scrubDatabase(database);
        expect(tables).toEqual(["mine"]);
        expect(unverified[0]).toMatch(/^theirs belongs to another login/);
      } finally {
        await database.close();
      }
    },
  );

  test.runIf(engine === "postgres")(
    "rows that an open transaction still sees are told",
    async () => {
      const userId = "telegram:5550002";
      await app.ok("update_memory", { userId, key: "note", value: MARKER });
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { default: postgres } = await import("postgres");
      const other = postgres(server?.url() ?? "", { max: 1 });
      const looking = other.begin("isolation level repeatable read", async (tx) => {
        await tx`select 1`;
        await released;
      });
      const body = { kind: "user", userId, confirm: "5550002" };
      const asked = await app.v1("POST", "/v1/erasures", body);
      await app.jobs.runDue();
      release();
      await looking;
      await other.end();
      const { body: entry } = await app.v1("GET", `/v1/erasures/${String(asked.body.id)}`);
      const { report } = entry as unknown as Erasure;
      expect(report.unverified.join("\n")).toMatch(/deleted rows of memory_kv are still seen/);
    },
  );
});
