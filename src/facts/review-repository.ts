import { and, asc, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { factRowOf, factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactQuery, SHOWN_ABOVE } from "./listing.ts";
import type { FactScope } from "./row.ts";
import { ownerOf, readRow } from "./row.ts";

interface Wanted extends FactQuery {
  readonly words: readonly string[];
  /** Absent = every pocket. */
  readonly agents: readonly string[] | undefined;
}

/** What people look through: claims of one scope. */
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
}

function ofScope(scope: FactScope): SQL | undefined {
  const { table, owner } = factTables[scope.name];
  return and(eq(table.orgId, scope.orgId), eq(owner, ownerOf(scope)));
}
