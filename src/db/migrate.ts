import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type postgres from "postgres";

/** Any fixed number: it only has to differ from other applications' advisory locks in the same database. */
const MIGRATION_LOCK = 7_236_411;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** Thrown when the database and the shipped migrations disagree; the message says what to do. */
class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** Reads `*.sql` of a folder in name order. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { name, sql: text, sha256: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * Applies the migrations that are missing in one transaction: all or none. Its advisory lock makes other starting
 * processes wait; being the transaction's, it works through a pooler and ends with the process.
 *
 * @returns the names applied now
 * @throws MigrationError when an applied file was edited, or the database was migrated by a newer version
 */
export async function migrate(sql: postgres.Sql, migrations: readonly Migration[]) {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await tx`create table if not exists souvenir_migrations (
      name text primary key, sha256 text not null, applied_at timestamptz(3) not null default now())`;
    const rows = await tx<{ name: string; sha256: string }[]>`
      select name, sha256 from souvenir_migrations order by name`;
    const pending = outstanding(migrations, new Map(rows.map((row) => [row.name, row.sha256])));
    for (const migration of pending) {
      await tx.unsafe(migration.sql);
      await tx`insert into souvenir_migrations (name, sha256)
        values (${migration.name}, ${migration.sha256})`;
    }
    return pending.map((migration) => migration.name);
  });
}

function outstanding(migrations: readonly Migration[], applied: ReadonlyMap<string, string>) {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new MigrationError(
      `the database was migrated by a newer version of Souvenir (${unknown.join(", ")}): start that version`,
    );
  }
  for (const { name, sha256 } of migrations) {
    const was = applied.get(name);
    if (was !== undefined && was !== sha256) {
      throw new MigrationError(
        `migration ${name} was edited after it was applied: restore the file and add a new migration instead`,
      );
    }
  }
  return migrations.filter((migration) => !applied.has(migration.name));
}
