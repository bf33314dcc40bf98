import { and, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { chatMessages } from "../db/schema/chat.ts";
import { factTables } from "../db/schema/facts.ts";
import { identityLinks } from "../db/schema/links.ts";
import { orgs, stores } from "../db/schema/orgs.ts";
import { channelIdentities, users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactScopeName } from "../facts/fact.ts";
import type { Row } from "./line.ts";
import { BEING_IMPORTED } from "./restored.ts";
import type { SectionName } from "./rows.ts";
import { columnsOf, NOBODY, TABLES } from "./tables-repository.ts";

interface Scope {
  readonly orgId: string;
}

/** What rows of other sections refer to. */
const PARENTS = {
  users,
  /** People who are not linked into another: others may be linked into these alone. */
  heads: users,
  identities: channelIdentities,
  stores,
  links: identityLinks,
  messages: chatMessages,
};
export type Parent = keyof typeof PARENTS;

/** Puts the rows of an export where they came from. */
export class ExportImportRepository {
  /** Rows of the org that have the same values in these fields as one of the given rows. */
  async find(
    { orgId }: Scope,
    section: SectionName,
    fields: readonly string[],
    rows: readonly Row[],
    tx: Tx,
  ): Promise<Row[]> {
    const { table, tenant } = TABLES[section];
    const columns = columnsOf(section);
    if (rows.length === 0) return [];
    if (fields.length === 0) return tx.select(columns).from(table).where(eq(tenant, orgId));
    const names = fields.map((field) => named(field, columns[field] as PgColumn));
    const values = rows.map(
      (row) =>
        sql`(${sql.join(
          fields.map((field) => sql`${row[field] ?? NOBODY}`),
          sql`, `,
        )})`,
    );
    return tx
      .select(columns)
      .from(table)
      .where(
        and(
          eq(tenant, orgId),
          sql`(${sql.join(names, sql`, `)}) in (${sql.join(values, sql`, `)})`,
        ),
      );
  }

  /** Which of these the org has. */
  async known({ orgId }: Scope, parent: Parent, ids: readonly string[], tx: Tx): Promise<string[]> {
    if (ids.length === 0) return [];
    const table = PARENTS[parent];
    const rows = await tx
      .select({ id: table.id })
      .from(table)
      .where(
        and(
          eq(table.orgId, orgId),
          inArray(table.id, [...ids]),
          parent === "heads" ? isNull(users.linkedInto) : undefined,
        ),
      );
    return rows.map(({ id }) => id);
  }

  /** @returns the rows that were put in, by these fields: not those whose place is taken, be it by another org's */
  async insert(
    { orgId }: Scope,
    section: SectionName,
    fields: readonly string[],
    rows: readonly Row[],
    tx: Tx,
  ): Promise<Row[]> {
    if (rows.length === 0) return [];
    const { table } = TABLES[section];
    const columns = columnsOf(section);
    const returned = Object.fromEntries(fields.map((field) => [field, columns[field] as PgColumn]));
    return tx
      .insert(table)
      .values(rows.map((row) => ({ ...row, orgId })) as never)
      .onConflictDoNothing()
      .returning(returned);
  }

  async setMemory({ orgId }: Scope, settings: Row, tx: Tx): Promise<void> {
    await tx.update(orgs).set(settings).where(eq(orgs.id, orgId));
  }

  /**
   * Lets facts be folded that an import put in, so many at a time.
   *
   * @returns how many there were
   */
  async release({ orgId }: Scope, scope: FactScopeName, limit: number, tx: Tx): Promise<number> {
    const { table } = factTables[scope];
    const imported: SQL | undefined = and(
      eq(table.orgId, orgId),
      eq(table.consolidatedAt, BEING_IMPORTED),
    );
    const rows = await tx
      .update(table)
      .set({ consolidatedAt: null })
      .where(
        and(
          eq(table.orgId, orgId),
          inArray(table.id, tx.select({ id: table.id }).from(table).where(imported).limit(limit)),
        ),
      )
      .returning({ id: table.id });
    return rows.length;
  }
}

/** Null has no equal in SQL. Of the rest an index is used. */
function named(field: string, column: PgColumn): SQL {
  const mayBeNull = field === "identityId" || (field === "storeId" && !column.notNull);
  return mayBeNull ? sql`coalesce(${column}, ${NOBODY})` : sql`${column}`;
}
