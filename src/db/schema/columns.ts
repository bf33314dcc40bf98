import { sql } from "drizzle-orm";
import { customType, pgPolicy, pgRole, timestamp, uuid } from "drizzle-orm/pg-core";
import { v7 } from "uuid";

/** The role that tenant transactions take on; made by the first migration, never allowed to log in. */
export const appRole = pgRole("souvenir_app").existing();

/**
 * JSON as text. The stock Drizzle types parse twice ("10.5" becomes 10.5) and `jsonb` reorders keys; with text the
 * repository decides, and JSON null cannot be mistaken for SQL NULL.
 */
export const jsonText = customType<{ data: string; driverData: string }>({
  dataType: () => "json",
});

/** Text compared by its bytes, whatever the database's locale. */
export const byteText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text collate "C"',
});

/** UUID version 7: ordered by creation within a process, so (time, id) keeps arrival order where times are equal. */
export const id = () =>
  uuid()
    .primaryKey()
    .$defaultFn(() => v7());

/** Milliseconds, as JavaScript's Date has: with microseconds in the column a cursor would overlap or skip rows. */
export const instant = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

const CURRENT_ORG = sql.raw("nullif(current_setting('app.org_id', true), '')::uuid");

/** Row-level security: a tenant transaction sees and writes rows of its own org only. */
export const tenantPolicy = (table: string, column = "org_id") =>
  pgPolicy(`${table}_tenant`, {
    as: "permissive",
    for: "all",
    to: appRole,
    using: sql`${sql.raw(column)} = ${CURRENT_ORG}`,
    withCheck: sql`${sql.raw(column)} = ${CURRENT_ORG}`,
  });
