import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { factDecisions, factRowOf, factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Decision } from "./decision.ts";
import type { FactScopeName } from "./fact.ts";
import { type DueSet, type History, type Key, type Keys, nameOf } from "./key.ts";
import { ownerOf, readRow, scopeOf } from "./row.ts";
import type { StoredState } from "./state.ts";

interface NewDecision extends Omit<Decision, "id"> {
  readonly actor: string;
}

/** What belongs to keys as a whole: their locks, histories, decisions and folded states. */
export class FactKeyRepository {
  /** Makes writers of these keys take turns until the transaction ends. One order for all: else they could deadlock. */
  async lock({ keys }: Pick<Keys, "keys">, tx: Tx): Promise<void> {
    const names = keys.map(nameOf).sort();
    await tx.execute(sql`
      select pg_advisory_xact_lock(hashtextextended(name, 1))
      from json_array_elements_text(${JSON.stringify(names)}::json) with ordinality named(name, at) order by at`);
  }

  /** @param limit newest rows of each key; absent = all, which consolidation and erasing need */
  async histories(keys: Keys, limit: number | undefined, tx: Tx): Promise<History[]> {
    const rows = await this.#rows(keys, limit, tx);
    const decisions = await this.#decisions(keys, tx);
    return keys.keys.map((key) => ({
      key,
      rows: rows.get(nameOf(key)) ?? [],
      decisions: decisions.get(nameOf(key)) ?? [],
    }));
  }

  async #rows({ orgId, name, keys }: Keys, limit: number | undefined, tx: Tx) {
    const { table, owner } = factTables[name];
    const wanted = recordset(keys);
    const newest =
      limit === undefined ? sql`` : sql`order by observed_at desc, id desc limit ${limit}`;
    const found = await tx
      .select({ ...factRowOf(table), ownerId: owner })
      .from(table)
      .where(
        and(
          eq(table.orgId, orgId),
          // An array is made once. As a subquery it would be run again for each row of a table without statistics.
          sql`${table.id} = any(array(
            select picked.id from ${wanted} cross join lateral (
              select id from ${table}
              where ${owner} = wanted.owner and ${table.agentId} = wanted.agent and ${table.key} = wanted.key
              ${newest}) picked))`,
        ),
      )
      .orderBy(asc(table.observedAt), asc(table.id));
    return Map.groupBy(
      found.map(({ ownerId, ...row }) => ({ ownerId, ...readRow(row) })),
      (row) => nameOf({ ...row, scope: scopeOf(name, orgId, row.ownerId) }),
    );
  }

  async #decisions({ orgId, name, keys }: Keys, tx: Tx) {
    const rows = await tx
      .select()
      .from(factDecisions)
      .where(
        and(
          eq(factDecisions.orgId, orgId),
          eq(factDecisions.scope, name),
          sql`(${decisionOwner(name)}, ${factDecisions.agentId}, ${factDecisions.key}) in (
            select owner, agent, key from ${recordset(keys)})`,
        ),
      )
      .orderBy(asc(factDecisions.at), asc(factDecisions.id));
    return Map.groupBy(rows, (row) =>
      nameOf({ ...row, scope: scopeOf(name, orgId, row.storeId ?? row.userId ?? orgId) }),
    );
  }

  async decide({ scope, agentId, key }: Key, decision: NewDecision, tx: Tx): Promise<void> {
    await tx.insert(factDecisions).values({
      ...decision,
      orgId: scope.orgId,
      scope: scope.name,
      storeId: scope.name === "store" ? scope.storeId : null,
      userId: scope.name === "user" ? scope.userId : null,
      agentId,
      key,
    });
  }

  /** Writes what a fold made of rows, but for those that went to another person since. */
  async apply(
    { orgId, name, keys }: Keys,
    states: ReadonlyMap<string, StoredState>,
    tx: Tx,
  ): Promise<void> {
    if (states.size === 0) return;
    const { table, owner } = factTables[name];
    const owners = sqlArray([...new Set(keys.map(({ scope }) => ownerOf(scope)))]);
    const rows = [...states].map(([id, state]) => ({ id, ...state }));
    await tx.execute(sql`
      update ${table} set consolidated_at = s."consolidatedAt", merged_into = s."mergedInto",
        archived_at = s."archivedAt", archived_reason = s."archivedReason", superseded_by = s."supersededBy",
        pinned = s.pinned, contested = s.contested, confirmation_count = s."confirmationCount",
        claim_confidence = s."claimConfidence", claim_tags = s."claimTags", claim_tier = s."claimTier",
        claim_half_life_days = s."claimHalfLifeDays", last_confirmed_at = s."lastConfirmedAt",
        fades_at = s."fadesAt", expires_at = s."expiresAt"
      from json_to_recordset(${JSON.stringify(rows)}::json) as s(id uuid, "consolidatedAt" timestamptz,
        "mergedInto" uuid, "archivedAt" timestamptz, "archivedReason" text, "supersededBy" uuid, pinned boolean,
        contested boolean, "confirmationCount" int, "claimConfidence" double precision, "claimTags" text[],
        "claimTier" text, "claimHalfLifeDays" double precision, "lastConfirmedAt" timestamptz, "fadesAt" timestamptz,
        "expiresAt" timestamptz)
      where ${table.id} = s.id and ${table.orgId} = ${orgId} and ${owner} = any(${owners}::uuid[])`);
  }

  /** Keys of every org that changed, fade or expire, read from their indexes: what does not change costs nothing. */
  async due(
    name: FactScopeName,
    { now, only, limit }: { readonly now: Date; readonly only: DueSet; readonly limit: number },
    tx: Tx,
  ): Promise<Key[]> {
    const { table, owner } = factTables[name];
    const columns = sql`select ${table.orgId} as org_id, ${owner} as owner, ${table.agentId} as agent_id, ${table.key} as key from ${table}`;
    const at = now.toISOString();
    const expired = sql`(${columns} where expires_at <= ${at} order by expires_at limit ${limit})`;
    const changedOrFaded = sql`
      union all (${columns} where consolidated_at is null order by id limit ${limit})
      union all (${columns} where fades_at <= ${at} order by fades_at limit ${limit})`;
    const rows = await tx.execute<{ org_id: string; owner: string; agent_id: string; key: string }>(
      sql`select distinct org_id, owner, agent_id, key
        from (${expired} ${only === "expired" ? sql`` : changedOrFaded}) due`,
    );
    return rows.map((row) => ({
      scope: scopeOf(name, row.org_id, row.owner),
      agentId: row.agent_id,
      key: row.key,
    }));
  }
}

function recordset(keys: readonly Key[]): SQL {
  const wanted = keys.map(({ scope, agentId, key }) => ({
    owner: ownerOf(scope),
    agent: agentId,
    key,
  }));
  return sql`json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(owner uuid, agent text, key text)`;
}

function decisionOwner(name: FactScopeName) {
  switch (name) {
    case "org":
      return factDecisions.orgId;
    case "store":
      return factDecisions.storeId;
    case "user":
      return factDecisions.userId;
  }
}
