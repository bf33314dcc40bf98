import { sql } from "drizzle-orm";
import { index, type PgColumn } from "drizzle-orm/pg-core";

/**
 * What recall lists, in the words of its query: live claims and, apart, the core ones, last confirmed first; and what the
 * memory page lists of a whole org.
 */
export function liveIndexes(
  name: string,
  t: { [C in "agentId" | "orgId" | "claimTier" | "claimHalfLifeDays"]: PgColumn },
  owner: PgColumn,
) {
  const order = sql`coalesce(last_confirmed_at, observed_at) desc`;
  const isLive = "merged_into is null and archived_at is null";
  return [
    // Among claims of one half-life the one that fades last is the strongest, now and whenever somebody looks.
    index(`${name}_strength_idx`)
      .on(owner, t.agentId, t.claimTier, t.claimHalfLifeDays, sql`fades_at desc`, sql`id desc`)
      .where(sql.raw(isLive)),
    index(`${name}_archived_idx`)
      .on(owner, sql`archived_at desc`, sql`id desc`)
      .where(sql.raw("merged_into is null and archived_at is not null")),
    index(`${name}_recent_idx`).on(owner, t.agentId, order, sql`id desc`).where(sql.raw(isLive)),
    index(`${name}_core_idx`)
      .on(owner, t.agentId, order, sql`id desc`)
      .where(sql.raw(`${isLive} and (pinned or coalesce(claim_tier, tier) = 'core')`)),
    index(`${name}_contested_idx`)
      .on(t.orgId, order, sql`id desc`)
      .where(sql.raw(`${isLive} and contested`)),
    index(`${name}_watch_idx`)
      .on(t.orgId, order, sql`id desc`)
      .where(sql.raw(`${isLive} and split_part(key, '.', 1) = 'watch'`)),
  ];
}

/** The due sets: keys that changed, claims that fade and claims that expire. All are empty most of the time. */
export function dueIndexes(
  name: string,
  t: { [C in "consolidatedAt" | "fadesAt" | "expiresAt" | "id"]: PgColumn },
) {
  return [
    index(`${name}_changed_idx`).on(t.id).where(sql`${t.consolidatedAt} is null`),
    index(`${name}_fades_idx`).on(t.fadesAt).where(sql`${t.fadesAt} is not null`),
    index(`${name}_expires_idx`).on(t.expiresAt).where(sql`${t.expiresAt} is not null`),
  ];
}
