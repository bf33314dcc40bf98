import { and, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { type FactTable, factRowOf, factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactScopeName } from "./fact.ts";
import type { Reach } from "./reach.ts";
import { type PlacedRow, placedRow } from "./row.ts";

interface Org {
  readonly orgId: string;
}

/** A place in a list of claims, last confirmed first. */
export interface ClaimPoint {
  readonly at: Date;
  readonly id: string;
}

interface Wanted {
  readonly now: Date;
  readonly before: ClaimPoint | undefined;
  readonly limit: number;
}

/** What people look through of a whole org: few claims among many, each list from a partial index of its own. */
export class OrgReviewRepository {
  /** Of each key with values that speak against each other: the claim that was confirmed last. */
  async contested(
    { orgId }: Org,
    name: FactScopeName,
    reach: Reach,
    wanted: Wanted,
    tx: Tx,
  ): Promise<PlacedRow[]> {
    const { table, owner } = factTables[name];
    const hasNewer = sql`exists (select from ${table} newer
      where newer.org_id = ${orgId} and ${sql.raw(`newer.${OWNER[name]}`)} = ${owner}
        and newer.agent_id = ${table.agentId} and newer.key = ${table.key}
        and newer.merged_into is null and newer.archived_at is null and newer.contested
        and (coalesce(newer.last_confirmed_at, newer.observed_at), newer.id)
          > (coalesce(${table.lastConfirmedAt}, ${table.observedAt}), ${table.id}))`;
    const isLast = and(sql`contested`, sql`not ${hasNewer}`);
    return this.#newest({ orgId }, name, isLast, reach, wanted, tx);
  }

  /** Claims about other sites. */
  async watch(
    { orgId }: Org,
    name: FactScopeName,
    reach: Reach,
    { site, ...wanted }: Wanted & { readonly site: string | undefined },
    tx: Tx,
  ): Promise<PlacedRow[]> {
    const ofSite = site === undefined ? undefined : sql`split_part(key, '.', 2) = ${site}`;
    const isWatch = sql`split_part(key, '.', 1) = 'watch'`;
    return this.#newest({ orgId }, name, and(isWatch, ofSite), reach, wanted, tx);
  }

  async #newest(
    { orgId }: Org,
    name: FactScopeName,
    condition: SQL | undefined,
    reach: Reach,
    { now, before, limit }: Wanted,
    tx: Tx,
  ): Promise<PlacedRow[]> {
    const { table, owner } = factTables[name];
    const said = sql`coalesce(${table.lastConfirmedAt}, ${table.observedAt})`;
    const rows = await tx
      .select({ ...factRowOf(table), ownerId: owner })
      .from(table)
      .where(
        and(
          eq(table.orgId, orgId),
          condition,
          isNull(table.mergedInto),
          isNull(table.archivedAt),
          or(isNull(table.expiresAt), gt(table.expiresAt, now)),
          within(name, table, reach),
          before &&
            sql`(${said}, ${table.id}) < (${before.at.toISOString()}::timestamptz, ${before.id}::uuid)`,
        ),
      )
      .orderBy(sql`${said} desc`, sql`${table.id} desc`)
      .limit(limit);
    return rows.map((row) => placedRow(name, orgId, row));
  }
}

const OWNER = { org: "org_id", store: "store_id", user: "user_id" } as const;

/** What a key may see of one kind of scope. */
function within(
  name: FactScopeName,
  table: FactTable,
  { userId, storeId, agents }: Reach,
): SQL | undefined {
  const { owner } = factTables[name];
  return and(
    name === "user" && userId !== undefined ? eq(owner, userId) : undefined,
    name === "store" && storeId !== undefined ? eq(owner, storeId) : undefined,
    agents && inArray(table.agentId, [...agents]),
  );
}
