import { and, asc, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { factDecisions, factRowOf, factTables, memoryEvents } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactQuery, SHOWN_ABOVE } from "./listing.ts";
import type { FactScope, StoredFact } from "./row.ts";
import { ownerOf, readRow } from "./row.ts";

interface Wanted extends FactQuery {
  readonly words: readonly string[];
  /** Absent = every pocket. */
  readonly agents: readonly string[] | undefined;
}

/** What people look through: claims of one scope, and everything about it for an export. */
export class ReviewRepository {
  /** Rows that speak for their claims, strongest first. */
  async list(scope: FactScope, query: Wanted, now: Date, tx: Tx) {
    const { table } = factTables[scope.name];
    const at = sql`${now.toISOString()}::timestamptz`;
    const score = sql`coalesce(claim_confidence, confidence) * power(0.5, greatest(0, extract(epoch from
      ${at} - coalesce(last_confirmed_at, observed_at))) / 86400 / coalesce(claim_half_life_days, half_life_days))`;
    const rows = await tx
      .select(factRowOf(table))
      .from(table)
      .where(
        and(
          ofScope(scope),
          isNull(table.mergedInto),
          or(isNull(table.expiresAt), gt(table.expiresAt, now)),
          query.agents && inArray(table.agentId, [...query.agents]),
          query.agentId === undefined ? undefined : eq(table.agentId, query.agentId),
          query.all
            ? undefined
            : and(isNull(table.archivedAt), sql`(pinned or ${score} > ${SHOWN_ABOVE})`),
          ...query.words.map((word) => sql`strpos(${table.searchText}, ${word}) > 0`),
        ),
      )
      .orderBy(sql`archived_at is not null, ${score} desc`, asc(table.id))
      .limit(query.limit)
      .offset(query.offset);
    return rows.map(readRow);
  }

  /** Every statement of a scope, archived ones too, a page at a time in the order they were made. */
  async statements(
    scope: FactScope,
    after: string | undefined,
    limit: number,
    tx: Tx,
  ): Promise<StoredFact[]> {
    const { table } = factTables[scope.name];
    const rows = await tx
      .select(factRowOf(table))
      .from(table)
      .where(and(ofScope(scope), after === undefined ? undefined : gt(table.id, after)))
      .orderBy(asc(table.id))
      .limit(limit);
    return rows.map(readRow);
  }

  async decisions(scope: FactScope, after: string | undefined, limit: number, tx: Tx) {
    return tx
      .select()
      .from(factDecisions)
      .where(
        and(
          eq(factDecisions.orgId, scope.orgId),
          ofOwner(factDecisions, scope),
          after === undefined ? undefined : gt(factDecisions.id, after),
        ),
      )
      .orderBy(asc(factDecisions.id))
      .limit(limit);
  }

  async events(scope: FactScope, after: string | undefined, limit: number, tx: Tx) {
    return tx
      .select()
      .from(memoryEvents)
      .where(
        and(
          eq(memoryEvents.orgId, scope.orgId),
          ofOwner(memoryEvents, scope),
          after === undefined ? undefined : gt(memoryEvents.id, after),
        ),
      )
      .orderBy(asc(memoryEvents.id))
      .limit(limit);
  }
}

function ofScope(scope: FactScope): SQL | undefined {
  const { table, owner } = factTables[scope.name];
  return and(eq(table.orgId, scope.orgId), eq(owner, ownerOf(scope)));
}

function ofOwner(
  table: typeof factDecisions | typeof memoryEvents,
  scope: FactScope,
): SQL | undefined {
  switch (scope.name) {
    case "org":
      return eq(table.scope, "org");
    case "store":
      return and(eq(table.scope, "store"), eq(table.storeId, scope.storeId));
    case "user":
      return and(eq(table.scope, "user"), eq(table.userId, scope.userId));
  }
}
