import { and, eq, or, type SQL, sql } from "drizzle-orm";
import { orgs } from "../db/schema/orgs.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";
import type { AnySection } from "./rows.ts";
import type { ExportScope } from "./scope.ts";
import { columnsOf, NOBODY, sortedBy, TABLES } from "./tables-repository.ts";

export type StoredRow = Readonly<Record<string, unknown>>;

/** Where a page ended. */
export interface Position {
  readonly part: number;
  readonly after: StoredRow | undefined;
}
export const START: Position = { part: 0, after: undefined };

/** Reads every table that an export holds, a page at a time. */
export class ExportRepository {
  /** The org as a file names it. */
  async org({ orgId }: { readonly orgId: string }, tx: Tx) {
    const [row] = await tx
      .select({ id: orgs.id, slug: orgs.slug, name: orgs.name, createdAt: orgs.createdAt })
      .from(orgs)
      .where(eq(orgs.id, orgId));
    return row;
  }

  /** The person and whoever was linked into them. */
  async family({ orgId }: { readonly orgId: string }, userId: string, tx: Tx): Promise<string[]> {
    const rows = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.orgId, orgId), or(eq(users.id, userId), eq(users.linkedInto, userId))));
    return rows.map(({ id }) => id);
  }

  async count(scope: ExportScope, section: AnySection, tx: Tx): Promise<number> {
    const { table, tenant, of } = TABLES[section];
    const [row] = await tx
      .select({ count: sql<string>`count(*)` })
      .from(table)
      .where(and(eq(tenant, scope.orgId), of(scope)));
    return Number(row?.count ?? 0);
  }

  /** @returns the rows behind a position, and the position behind them; without one at the end */
  async page(
    scope: ExportScope,
    section: AnySection,
    { part, after }: Position,
    limit: number,
    tx: Tx,
  ): Promise<{ readonly rows: readonly StoredRow[]; readonly next: Position | undefined }> {
    const { table, tenant, of, parts = [] } = TABLES[section];
    const key = keyOf(scope, section);
    const sorted = key.map((field) => sortedBy(section, field));
    const rows: StoredRow[] = await tx
      .select(columnsOf(section))
      .from(table)
      .where(
        and(eq(tenant, scope.orgId), of(scope), parts[part], after && behind(sorted, key, after)),
      )
      .orderBy(...sorted)
      .limit(limit);
    if (rows.length === limit) return { rows, next: { part, after: rows.at(-1) } };
    const isLast = part + 1 >= parts.length;
    return { rows, next: isLast ? undefined : { part: part + 1, after: undefined } };
  }
}

function keyOf(scope: ExportScope, section: AnySection): readonly string[] {
  const { key, keyOfPerson = key } = TABLES[section];
  return scope.name === "user" ? keyOfPerson : key;
}

function behind(sorted: readonly SQL[], key: readonly string[], row: StoredRow): SQL | undefined {
  const [first] = sorted;
  if (!first) return undefined;
  const values = key.map((field) => {
    const value = row[field] ?? NOBODY;
    return sql`${value instanceof Date ? value.toISOString() : value}`;
  });
  // By the first field alone an index finds where to begin.
  return sql`${first} >= ${values[0]} and (${sql.join([...sorted], sql`, `)}) > (${sql.join(values, sql`, `)})`;
}
