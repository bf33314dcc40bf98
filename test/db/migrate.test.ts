import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { describe, expect, inject, test } from "vitest";
import { Database } from "../../src/db/client.ts";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import {
  createPostgresDatabase,
  dropPostgresDatabase,
  type Engine,
  onBothDatabases,
} from "../support/database.ts";
import { ServerProcess } from "../support/server-process.ts";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);

async function emptyDatabase(engine: Engine) {
  if (engine === "embedded") {
    const dataDir = await mkdtemp(join(tmpdir(), "souvenir-empty-"));
    return { options: { dataDir }, dispose: () => rm(dataDir, { recursive: true, force: true }) };
  }
  const url = await createPostgresDatabase();
  return { options: { dataDir: "", url }, dispose: () => dropPostgresDatabase(url) };
}

onBothDatabases((engine) => {
  test("an empty database gets every migration once, and nothing on the next start", async () => {
    const { options, dispose } = await emptyDatabase(engine);
    const names = (await readMigrations(MIGRATIONS)).map((migration) => migration.name);
    for (const expected of [names, []]) {
      const database = await Database.open(options);
      expect(await database.prepare()).toEqual(expected);
      await database.close();
    }
    await dispose();
  });
});

describe.skipIf(inject("postgresUrl") === undefined)("on an empty PostgreSQL", () => {
  test("three servers that start at once on an empty PostgreSQL all come up, with one history and one owner key", async () => {
    const url = await createPostgresDatabase();
    const servers = await Promise.all(
      [1, 2, 3].map(() => ServerProcess.ready({ DATABASE_URL: url, LOG_LEVEL: "info" })),
    );
    const applied = servers.flatMap(({ output }) => output.match(/migrations applied/g) ?? []);
    const shownKeys = servers.filter(({ output }) => output.includes("Your owner key"));
    expect([applied.length, shownKeys.length]).toEqual([1, 1]);
    for (const server of servers) {
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      await server.kill();
    }
    const sql = postgres(url, { max: 1 });
    const history = await sql`select name from souvenir_migrations order by name`;
    const shipped = await readMigrations(MIGRATIONS);
    expect(history.map(({ name }) => name)).toEqual(shipped.map(({ name }) => name));
    expect(await sql`select slug from orgs`).toHaveLength(1);
    await sql.end();
    await dropPostgresDatabase(url);
  });

  test("an applied migration that was edited stops the start and names the file", async () => {
    const url = await createPostgresDatabase();
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const first = { name: "0000_a.sql", sql: "create table a (id int)", sha256: "1" };
    await migrate(sql, [first]);
    await expect(migrate(sql, [{ ...first, sha256: "2" }])).rejects.toThrow(
      "0000_a.sql was edited",
    );
    await sql.end();
    await dropPostgresDatabase(url);
  });

  test("a database of a newer version is refused", async () => {
    const url = await createPostgresDatabase();
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const later = { name: "9999_later.sql", sql: "select 1", sha256: "1" };
    await migrate(sql, [later]);
    await expect(migrate(sql, [])).rejects.toThrow("newer version of Souvenir (9999_later.sql)");
    await sql.end();
    await dropPostgresDatabase(url);
  });

  test("a migration that fails leaves nothing half made", async () => {
    const url = await createPostgresDatabase();
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const good = { name: "0000_a.sql", sql: "create table a (id int)", sha256: "1" };
    const bad = { name: "0001_b.sql", sql: "create table b (id nonsense)", sha256: "1" };
    await expect(migrate(sql, [good, bad])).rejects.toThrow("nonsense");
    expect(await sql`select to_regclass('a') as a`).toEqual([{ a: null }]);
    await sql.end();
    await dropPostgresDatabase(url);
  });
});
