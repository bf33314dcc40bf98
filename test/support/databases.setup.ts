import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { Database } from "../../src/db/client.ts";
import { startPostgres } from "./postgres-server.ts";

export const TEMPLATE = "souvenir_template";

declare module "vitest" {
  interface ProvidedContext {
    /** A superuser's URL; undefined where no PostgreSQL could be started. */
    postgresUrl: string | undefined;
    /** A migrated embedded database to copy. */
    embeddedTemplate: string;
  }
}

/** Starts PostgreSQL once and migrates one database of each kind, for the test files to copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const embeddedTemplate = await mkdtemp(join(tmpdir(), "souvenir-template-"));
  await migrateOnce({ dataDir: embeddedTemplate });
  project.provide("embeddedTemplate", embeddedTemplate);

  let missing: string | undefined;
  let hasPgvector = true;
  const server = await startPostgres().catch((error: unknown) => {
    if (process.env.CI) throw error;
    missing = String(error);
    return undefined;
  });
  if (server) {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(`drop database if exists ${TEMPLATE}`);
    await sql.unsafe(`create database ${TEMPLATE}`);
    const available = await sql`select 1 from pg_available_extensions where name = 'vector'`;
    hasPgvector = available.length > 0;
    if (!hasPgvector && process.env.CI) throw new Error(`${server.origin} has no pgvector`);
    await sql.end();
    await migrateOnce({ dataDir: "", url: databaseUrl(server.url, TEMPLATE) });
  }
  project.provide("postgresUrl", server?.url);
  return async () => {
    await server?.stop();
    await rm(embeddedTemplate, { recursive: true, force: true });
    if (!hasPgvector) {
      process.stderr.write(
        `\nVectors on PostgreSQL were tested without pgvector, which ${server?.origin} does not have: the tests of its\n` +
          "indexes were skipped there. TEST_DATABASE_URL names a PostgreSQL with pgvector to test on.\n",
      );
    }
    if (missing === undefined) return;
    // The last lines, where it is not missed: the suite passed on one database of two.
    process.stderr.write(
      `\nSkipped: everything on PostgreSQL, because none could be started (${missing}).\n` +
        "TEST_DATABASE_URL names one to test on. The count of skipped tests is above.\n",
    );
  };
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function migrateOnce(options: { dataDir: string; url?: string }): Promise<void> {
  const database = await Database.open(options);
  await database.prepare();
  await database.close();
}
