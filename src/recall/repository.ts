import { and, eq, gte, isNotNull, lte, or, type SQL, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import { factTables } from "../db/schema/facts.ts";
import { searchDocuments } from "../db/schema/search.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactScopeName } from "../facts/fact.ts";
import { type FactScope, ownerOf, type Slot } from "../facts/row.ts";
import type { MemorySettings } from "../orgs/memory.ts";
import { sqlArray } from "../sql-array.ts";
import type { Said } from "./sessions.ts";

const MESSAGE_CHARACTERS = 4000;

interface Org {
  readonly orgId: string;
}

interface MessageFilter {
  readonly since?: Date | undefined;
  readonly asOf?: Date | undefined;
}

/** What of a scope may be recalled. */
export interface FactFilter {
  /** The pockets that may be read. */
  readonly agents: readonly string[];
  readonly keyPrefix?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly minConfidence?: number | undefined;
  readonly since?: Date | undefined;
  readonly asOf?: Date | undefined;
  readonly includeArchived: boolean;
}

/** A claim as its last fold wrote it down: enough to choose which keys to fold now. */
export interface StandingClaim extends Slot {
  readonly scope: FactScope;
  readonly factId: string;
  /** Pinned, or of the core tier. */
  readonly isCore: boolean;
  readonly confidence: number;
  readonly halfLifeDays: number;
  readonly contested: boolean;
  readonly observedAt: Date;
  readonly lastConfirmed: Date;
  /** Of its line in a block, as counted when it was written; null before it was indexed. */
  readonly tokens: number | null;
}

/** What an org has settled for its agents. */
export interface Settled {
  readonly memory: Pick<MemorySettings, "enabled" | "offShare">;
  /** Null where nothing was ever saved. */
  readonly rules: string | null;
  /** What the store adds to them. */
  readonly overlay: string | null;
}

export interface StoredMessage {
  readonly id: string;
  readonly direction: "inbound" | "outbound";
  readonly channel: string;
  readonly forwarded: boolean;
  readonly text: string;
  readonly sentAt: Date;
}

type SettledRow = {
  readonly memory_enabled: boolean;
  readonly memory_off_share: number;
  readonly rules: string | null;
  readonly overlay: string | null;
};

type ClaimRow = {
  readonly scope: FactScopeName;
  readonly id: string;
  readonly agent_id: string;
  readonly key: string;
  readonly is_core: boolean;
  readonly confidence: number;
  readonly half_life_days: number;
  readonly contested: boolean;
  readonly observed_at: string;
  readonly last_confirmed: string;
  readonly tokens: number | null;
};

export class RecallRepository {
  /**
   * Whether the org uses memory and the rules it had at a time, or has, in one statement: every recall waits for it.
   *
   * @returns undefined when the org is gone
   */
  async settled(
    { orgId }: Org,
    { storeId, asOf }: { readonly storeId?: string | undefined; readonly asOf?: Date | undefined },
    tx: Tx,
  ): Promise<Settled | undefined> {
    const rulesOf = (owner: SQL) => sql`(
      select text from rule_versions where org_id = ${orgId} and ${owner}
        ${asOf ? sql`and created_at <= ${asOf.toISOString()}` : sql``}
      order by version desc limit 1)`;
    const overlay = storeId === undefined ? sql`null` : rulesOf(sql`store_id = ${storeId}`);
    const [row] = await tx.execute<SettledRow>(sql`
      select memory_enabled, memory_off_share, ${rulesOf(sql`store_id is null`)} as rules,
        ${overlay} as overlay
      from orgs where id = ${orgId}`);
    if (!row) return undefined;
    const { memory_enabled: enabled, memory_off_share: offShare, rules, overlay: ofStore } = row;
    return { memory: { enabled, offShare }, rules, overlay: ofStore };
  }

  /** Of every pocket, the claims confirmed last and, with them, the core ones confirmed last. */
  async standing(
    scopes: readonly FactScope[],
    filter: FactFilter,
    limit: number,
    tx: Tx,
  ): Promise<StandingClaim[]> {
    const parts = scopes.flatMap((scope) =>
      filter.agents.flatMap((agent) => [
        newest(scope, agent, filter, undefined, limit),
        newest(scope, agent, filter, isCore(), limit),
      ]),
    );
    return parts.length === 0 ? [] : read(scopes, sql.join(parts, sql` union `), tx);
  }

  /** The claims that these documents stand for, as far as they may be recalled. */
  async claims(
    scopes: readonly FactScope[],
    documentIds: readonly string[],
    filter: FactFilter,
    tx: Tx,
  ): Promise<StandingClaim[]> {
    if (documentIds.length === 0 || scopes.length === 0) return [];
    const ids = sqlArray(documentIds);
    const parts = scopes.map((scope) => {
      const { table } = factTables[scope.name];
      return sql`select ${columns(scope)} from ${table}
        where ${inReach(scope, filter)} and ${table.id} = any(${ids}::uuid[])`;
    });
    return read(scopes, sql.join(parts, sql` union all `), tx);
  }

  /** Where these messages of one person were said, as far as they may be recalled. */
  async places(
    org: Org,
    userId: string,
    ids: readonly string[],
    filter: MessageFilter,
    tx: Tx,
  ): Promise<Said[]> {
    if (ids.length === 0) return [];
    const rows = await tx
      .select({
        documentId: chatMessages.id,
        conversation: sql<string>`json_build_array(${chatMessages.channel}, ${chatMessages.account},
          ${chatMessages.conversationId})::text`,
        at: chatMessages.sentAt,
        direction: chatMessages.direction,
        previous: searchDocuments.contextId,
      })
      .from(chatMessages)
      .innerJoin(
        searchDocuments,
        and(eq(searchDocuments.orgId, org.orgId), eq(searchDocuments.id, chatMessages.id)),
      )
      .where(recallable(org, userId, ids, filter));
    return rows.map(({ direction, ...row }) => ({ ...row, isAssistant: direction === "outbound" }));
  }

  /** What these messages of one person say, as far as they may be recalled. */
  messages(
    org: Org,
    userId: string,
    ids: readonly string[],
    filter: MessageFilter,
    tx: Tx,
  ): Promise<StoredMessage[]> {
    return tx
      .select({
        id: chatMessages.id,
        direction: chatMessages.direction,
        channel: chatMessages.channel,
        forwarded: chatMessages.forwarded,
        text: sql<string>`left(${chatMessages.text}, ${MESSAGE_CHARACTERS})`,
        sentAt: chatMessages.sentAt,
      })
      .from(chatMessages)
      .where(recallable(org, userId, ids, filter))
      .orderBy(chatMessages.id);
  }
}

/** They hold text and were not kept out by the person. */
function recallable(
  { orgId }: Org,
  userId: string,
  ids: readonly string[],
  { since, asOf }: MessageFilter,
): SQL | undefined {
  return and(
    eq(chatMessages.orgId, orgId),
    eq(chatMessages.userId, userId),
    sql`${chatMessages.id} = any(${sqlArray(ids)}::uuid[])`,
    eq(chatMessages.optedOut, false),
    isNotNull(chatMessages.text),
    since && gte(chatMessages.sentAt, since),
    asOf && lte(chatMessages.sentAt, asOf),
  );
}

async function read(scopes: readonly FactScope[], query: SQL, tx: Tx): Promise<StandingClaim[]> {
  const rows = await tx.execute<ClaimRow>(query);
  return rows.flatMap((row) => {
    const scope = scopes.find(({ name }) => name === row.scope);
    return scope
      ? {
          scope,
          factId: row.id,
          agentId: row.agent_id,
          key: row.key,
          isCore: row.is_core,
          confidence: row.confidence,
          halfLifeDays: row.half_life_days,
          contested: row.contested,
          observedAt: new Date(row.observed_at),
          lastConfirmed: new Date(row.last_confirmed),
          tokens: row.tokens,
        }
      : [];
  });
}

/** What a fold has not seen yet is told by the statement alone. */
const LAST_CONFIRMED = sql`coalesce(last_confirmed_at, observed_at)`;

function isCore(): SQL {
  return sql`(pinned or coalesce(claim_tier, tier) = 'core')`;
}

function columns({ name, orgId }: FactScope): SQL {
  const { table } = factTables[name];
  return sql`${sql.raw(`'${name}'`)} as scope, id, agent_id, key, ${isCore()} as is_core,
    coalesce(claim_confidence, confidence) as confidence,
    coalesce(claim_half_life_days, half_life_days) as half_life_days, contested, observed_at, ${LAST_CONFIRMED} as last_confirmed,
    (select d.tokens from search_documents d where d.org_id = ${orgId} and d.id = ${table.id}) as tokens`;
}

/** One pocket at a time: for two at once an index cannot give the order. */
function newest(
  scope: FactScope,
  agent: string,
  filter: FactFilter,
  condition: SQL | undefined,
  limit: number,
): SQL {
  const { table } = factTables[scope.name];
  // What lived at an earlier time is among the rows of that time.
  const order = filter.asOf ? sql`observed_at` : LAST_CONFIRMED;
  return sql`(select ${columns(scope)} from ${table}
    where ${and(inReach(scope, { ...filter, agents: [agent] }), condition)}
    order by ${order} desc, id desc limit ${limit})`;
}

function inReach(scope: FactScope, filter: FactFilter): SQL | undefined {
  const { table, owner } = factTables[scope.name];
  const { agents, keyPrefix, tags, minConfidence, since, asOf, includeArchived } = filter;
  const [agent] = agents;
  return and(
    eq(table.orgId, scope.orgId),
    eq(owner, ownerOf(scope)),
    agents.length === 1 && agent !== undefined
      ? eq(table.agentId, agent)
      : sql`${table.agentId} = any(${`{${agents.map((name) => JSON.stringify(name)).join(",")}}`}::text[])`,
    // What lived at an earlier time only the fold can tell.
    asOf ? undefined : sql`merged_into is null`,
    includeArchived || asOf ? undefined : sql`archived_at is null`,
    asOf && lte(table.observedAt, asOf),
    keyPrefix === undefined
      ? undefined
      : or(eq(table.key, keyPrefix), sql`starts_with(${table.key}, ${`${keyPrefix}.`})`),
    asOf || tags === undefined
      ? undefined
      : sql`coalesce(claim_tags, tags) @> array(select json_array_elements_text(${JSON.stringify(tags)}::json))`,
    asOf || minConfidence === undefined
      ? undefined
      : sql`coalesce(claim_confidence, confidence) >= ${minConfidence}`,
    asOf || since === undefined ? undefined : sql`${LAST_CONFIRMED} >= ${since.toISOString()}`,
  );
}
