import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { describe, inject } from "vitest";
import { databaseUrl, TEMPLATE } from "./databases.setup.ts";

export type Engine = "embedded" | "postgres";

/** The variables that make a server use this database; `dispose` removes it. */
export interface TestDatabase {
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/** Runs the same tests on the embedded database and on PostgreSQL; says so where there is no PostgreSQL. */
export function onBothDatabases(define: (engine: Engine) => void): void {
  describe("on the embedded database", () => define("embedded"));
  if (inject("postgresUrl") === undefined) {
    describe.skip("on PostgreSQL (none could be started)", () => define("postgres"));
  } else {
    describe("on PostgreSQL", () => define("postgres"));
  }
}

/** A database of its own, migrated, without rows. */
export async function createDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === "embedded") {
    const dataDir = await mkdtemp(join(tmpdir(), "souvenir-test-"));
    // Not the asynchronous one, which takes several times the processor time for a thousand small files.
    cpSync(inject("embeddedTemplate"), dataDir, { recursive: true });
    return {
      env: { DATA_DIR: dataDir },
      dispose: () => rm(dataDir, { recursive: true, force: true }),
    };
  }
  const url = await createPostgresDatabase(TEMPLATE);
  return {
    env: { DATABASE_URL: url, DATA_DIR: "/nonexistent" },
    dispose: () => dropPostgresDatabase(url),
  };
}

/** A database on the test server, a copy of `template`. @returns its URL */
export async function createPostgresDatabase(template = "template0"): Promise<string> {
  const serverUrl = inject("postgresUrl");
  if (serverUrl === undefined) throw new Error("there is no PostgreSQL to test on");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await admin(serverUrl, `create database ${name} template ${template}`);
  return databaseUrl(serverUrl, name);
}

export async function dropPostgresDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await admin(databaseUrl(url, "postgres"), `drop database ${name} with (force)`);
}

async function admin(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
