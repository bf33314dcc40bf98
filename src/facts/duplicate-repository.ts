import { and, desc, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { factRowOf, factTables } from "../db/schema/facts.ts";
import { possibleDuplicates } from "../db/schema/search.ts";
import type { Tx } from "../db/tenant.ts";
import { FACT_SCOPES, type FactScopeName } from "./fact.ts";
import type { Comparable } from "./likeness.ts";
import { type PlacedRow, placedRow } from "./row.ts";

interface Org {
  readonly orgId: string;
}

/** Two claims that may be one; the smaller id first. */
export interface Pair {
  readonly firstId: string;
  readonly secondId: string;
}

export interface FoundPair extends Pair {
  readonly likeness: number;
}

/** Claims that may say the same under different keys, and what people said of them. */
export class DuplicateRepository {
  /** Live claims of one kind of scope by their ids, as they are compared. */
  async comparable(
    { orgId }: Org,
    name: FactScopeName,
    ids: readonly string[],
    tx: Tx,
  ): Promise<Map<string, Comparable>> {
    if (ids.length === 0) return new Map();
    const { table } = factTables[name];
    const rows = await tx
      .select({ id: table.id, key: table.key, value: table.value })
      .from(table)
      .where(
        and(
          eq(table.orgId, orgId),
          inArray(table.id, [...ids]),
          isNull(table.mergedInto),
          isNull(table.archivedAt),
        ),
      );
    return new Map(
      rows.map(({ id, key, value }) => [id, { key, value: JSON.parse(value) as unknown }]),
    );
  }

  /** Notes pairs; one that is known stays as it is, dismissed or not, and one of which a claim is gone is left out. */
  async add({ orgId }: Org, pairs: readonly FoundPair[], at: Date, tx: Tx): Promise<void> {
    if (pairs.length === 0) return;
    await tx.execute(sql`
      insert into possible_duplicates (org_id, first_id, second_id, likeness, found_at)
      select ${orgId}, p."firstId", p."secondId", p.likeness, ${at.toISOString()}
      from json_to_recordset(${JSON.stringify(pairs)}::json)
        as p("firstId" uuid, "secondId" uuid, likeness double precision)
      where (select count(*) from search_documents d
        where d.org_id = ${orgId} and d.id in (p."firstId", p."secondId")) = 2
      on conflict do nothing`);
  }

  /** Pairs that nobody has dismissed, the most alike first. */
  async open({ orgId }: Org, after: FoundPair | undefined, limit: number, tx: Tx) {
    const { likeness, firstId, secondId, foundAt, dismissedAt } = possibleDuplicates;
    const isLater =
      after &&
      sql`${likeness} <= ${after.likeness}::float8 and (${likeness} < ${after.likeness}::float8
        or (${firstId}, ${secondId}) > (${after.firstId}::uuid, ${after.secondId}::uuid))`;
    return tx
      .select({ firstId, secondId, likeness, foundAt })
      .from(possibleDuplicates)
      .where(and(eq(possibleDuplicates.orgId, orgId), isNull(dismissedAt), isLater))
      .orderBy(desc(likeness), firstId, secondId)
      .limit(limit);
  }

  /** @returns whether it was an open pair */
  async dismiss(
    { orgId }: Org,
    { firstId, secondId }: Pair,
    by: { readonly dismissedAt: Date; readonly dismissedBy: string },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .update(possibleDuplicates)
      .set(by)
      .where(
        and(
          eq(possibleDuplicates.orgId, orgId),
          eq(possibleDuplicates.firstId, firstId),
          eq(possibleDuplicates.secondId, secondId),
          isNull(possibleDuplicates.dismissedAt),
        ),
      )
      .returning({ firstId: possibleDuplicates.firstId });
    return rows.length > 0;
  }

  /** Live claims by their ids, wherever they lie. */
  async claims({ orgId }: Org, ids: readonly string[], tx: Tx): Promise<Map<string, PlacedRow>> {
    const found = new Map<string, PlacedRow>();
    if (ids.length === 0) return found;
    for (const name of FACT_SCOPES) {
      const { table, owner } = factTables[name];
      const isLive: SQL | undefined = and(isNull(table.mergedInto), isNull(table.archivedAt));
      const rows = await tx
        .select({ ...factRowOf(table), ownerId: owner })
        .from(table)
        .where(and(eq(table.orgId, orgId), inArray(table.id, [...ids]), isLive));
      for (const row of rows) found.set(row.id, placedRow(name, orgId, row));
    }
    return found;
  }
}
