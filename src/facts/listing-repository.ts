import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { factRowOf, factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactFilter } from "./listing.ts";
import { type FactScope, ownerOf, readRow, type StoredFact } from "./row.ts";

/** Pockets, tiers and half-lives that are read one by one; a scope with more is sorted as a whole. */
const MOST_STREAMS = 200;
/** Claims that one page looks through for words or a tag, which no index has: some 50 ms. */
const LOOKED_THROUGH = 10_000;
const DAY_MS = 86_400_000;
const FIRST_TIME = Date.parse("0001-01-01T00:00:00Z");
const LAST_TIME = Date.parse("9999-12-31T23:59:59Z");

interface Wanted extends Omit<FactFilter, "search"> {
  readonly words: readonly string[];
  /** Pockets to look into; absent = every one. */
  readonly agents: readonly string[] | undefined;
  /** What expired by then is left out. */
  readonly now: Date;
  readonly limit: number;
}

/** Where a list goes on: after a claim of this strength. */
export interface StrengthPoint {
  readonly strength: number;
  readonly id: string;
}

export interface ArchivedPoint {
  readonly archivedAt: Date;
  readonly id: string;
}

/** A claim and its strength: half-lives that are left until it fades, at one point in time. */
interface Strong {
  readonly row: StoredFact;
  readonly strength: number;
}

export interface Strongest {
  readonly found: readonly Strong[];
  /** Where a search stopped looking: there may be more after it. */
  readonly lookedTo: StrengthPoint | undefined;
}

/** Claims of one pocket, tier and half-life: the strongest is the one that fades last, whenever somebody looks. */
interface Stream {
  readonly agent: string;
  readonly tier: string;
  readonly days: number;
}

interface From {
  readonly at: Date;
  readonly floor: number | undefined;
  readonly after: StrengthPoint | undefined;
}

/**
 * Claims of one scope, a page at a time, without reading the rest: scores change by the hour, but not their order among
 * claims of one half-life. So each of these is read from its index, and a page is put together from their heads.
 */
export class ListingRepository {
  /**
   * Live claims, strongest first.
   *
   * @param at when strengths are taken: one point in time for all pages of a list
   * @param floor the strength that a claim has to be above, unless it is pinned
   */
  async strongest(scope: FactScope, wanted: Wanted, from: From, tx: Tx): Promise<Strongest> {
    const streams = wanted.contested ? undefined : await this.#streams(scope, wanted, tx);
    if (streams?.length === 0) return { found: [], lookedTo: undefined };
    const isSearch = wanted.words.length > 0 || wanted.tag !== undefined;
    const most = isSearch && streams ? Math.ceil(LOOKED_THROUGH / streams.length) : undefined;
    const heads = headsOf(scope, wanted, from, { streams, most });
    const end = sql`select strength, id from (
      select strength, id, row_number() over (partition by head order by strength desc, id desc) as place from heads) last
      where place = ${most ?? 0} order by strength desc, id desc limit 1`;
    const rows = await tx.execute<{ id: string; strength: number; is_end: boolean }>(sql`
      with heads as (${heads}), looked as (${end})
      (select id, strength, false as is_end from heads
        where matches and not exists (select from looked l where (heads.strength, heads.id) < (l.strength, l.id))
        order by strength desc, id desc limit ${wanted.limit})
      union all (select id, strength, true from looked)`);
    const found = rows.filter((row) => !row.is_end).map(({ id, strength }) => ({ id, strength }));
    const lookedTo = rows.find((row) => row.is_end);
    const stored = await this.#rows(scope, found, tx);
    return {
      found: found.flatMap(({ id, strength }) => {
        const row = stored.get(id);
        return row ? [{ row, strength }] : [];
      }),
      lookedTo: lookedTo && { strength: lookedTo.strength, id: lookedTo.id },
    };
  }

  /** @returns undefined where there are too many to read one by one */
  async #streams(
    scope: FactScope,
    { agents, agentId, tier }: Wanted,
    tx: Tx,
  ): Promise<Stream[] | undefined> {
    const { table, owner } = factTables[scope.name];
    const isLive = sql`${table.orgId} = ${scope.orgId} and ${owner} = ${ownerOf(scope)} and merged_into is null
      and archived_at is null and claim_half_life_days is not null`;
    const columns = sql`agent_id as agent, claim_tier as tier, claim_half_life_days as days`;
    const first = sql`order by agent_id, claim_tier, claim_half_life_days limit 1`;
    const found = await tx.execute<{ agent: string; tier: string; days: number }>(sql`
      with recursive streams as (
        (select ${columns} from ${table} where ${isLive} ${first})
        union all
        select next.* from streams s cross join lateral (
          select ${columns} from ${table} where ${isLive}
            and (agent_id, claim_tier, claim_half_life_days) > (s.agent, s.tier, s.days) ${first}) next)
      select agent, tier, days from streams limit ${MOST_STREAMS + 1}`);
    if (found.length > MOST_STREAMS) return undefined;
    return found.filter(
      (stream) =>
        (agents?.includes(stream.agent) ?? true) &&
        (agentId ?? stream.agent) === stream.agent &&
        (tier ?? stream.tier) === stream.tier,
    );
  }

  /** Claims that are not recalled any more, last put away first. */
  async archived(
    scope: FactScope,
    wanted: Wanted,
    after: ArchivedPoint | undefined,
    tx: Tx,
  ): Promise<StoredFact[]> {
    const { table, owner } = factTables[scope.name];
    const found = await tx.execute<{ id: string }>(sql`
      select id from ${table}
      where ${table.orgId} = ${scope.orgId} and ${owner} = ${ownerOf(scope)} and merged_into is null
        and archived_at is not null and ${filters(wanted)}
        ${after ? sql`and (archived_at, id) < (${after.archivedAt.toISOString()}::timestamptz, ${after.id}::uuid)` : sql``}
      order by archived_at desc, id desc limit ${wanted.limit}`);
    const rows = await this.#rows(scope, found, tx);
    return found.flatMap(({ id }) => rows.get(id) ?? []);
  }

  async #rows(scope: FactScope, found: readonly { readonly id: string }[], tx: Tx) {
    if (found.length === 0) return new Map<string, StoredFact>();
    const { table } = factTables[scope.name];
    const ids = found.map(({ id }) => id);
    const rows = await tx
      .select(factRowOf(table))
      .from(table)
      .where(and(eq(table.orgId, scope.orgId), inArray(table.id, ids)));
    return new Map(rows.map((row) => [row.id, readRow(row)]));
  }
}

/**
 * The first claims of each stream, numbered by it. With `most` they are looked through: those that do not match come too,
 * to tell how far a search has come.
 */
function headsOf(
  scope: FactScope,
  wanted: Wanted,
  { at, floor, after }: From,
  {
    streams,
    most,
  }: { readonly streams: readonly Stream[] | undefined; readonly most: number | undefined },
): SQL {
  const { table, owner } = factTables[scope.name];
  const { fading, lasting, either } = strengthAt(at);
  // What a stream says of itself is left out: with it the planner takes the index of core claims, and sorts them all.
  const matches = filters(
    streams ? { ...wanted, agents: undefined, agentId: undefined, tier: undefined } : wanted,
  );
  let number = 0;
  const head = (strength: SQL, of: SQL, order: SQL) => sql`(
    select id, ${strength} as strength, ${most ? matches : sql`true`} as matches, ${number++}::int as head from ${table}
    where ${table.orgId} = ${scope.orgId} and ${owner} = ${ownerOf(scope)} and merged_into is null
      and archived_at is null and ${of} ${most ? sql`` : sql`and ${matches}`}
      ${after ? sql`and (${strength}, id) < (${after.strength}::float8, ${after.id}::uuid)` : sql``}
    order by ${order} limit ${most ?? wanted.limit})`;
  const strong = (strength: SQL) =>
    floor === undefined ? sql`true` : sql`(pinned or ${strength} > ${floor}::float8)`;
  const whole = (of: SQL) => head(either, sql`${of} and ${strong(either)}`, sql`2 desc, 1 desc`);
  if (!streams) return whole(sql`true`);
  const fadesAt = (strength: number, days: number) => {
    // A cursor may name any strength, and the database reads years of four digits.
    const time = Math.max(FIRST_TIME, Math.min(at.getTime() + strength * days * DAY_MS, LAST_TIME));
    return sql`${new Date(time).toISOString()}::timestamptz`;
  };
  const heads = streams.flatMap(({ agent, tier, days }) => {
    const own = sql`agent_id = ${agent} and claim_tier = ${tier} and claim_half_life_days = ${days}::float8`;
    const above = floor === undefined ? sql`` : sql`and fades_at > ${fadesAt(floor, days)}`;
    const below = after && sql`and fades_at <= ${fadesAt(after.strength, days)} + interval '1 ms'`;
    const fades = sql`${own} and fades_at is not null ${above} ${below ?? sql``}`;
    const lasts = sql`${own} and fades_at is null and ${strong(lasting)}`;
    return [
      ...(wanted.pinned ? [] : [head(fading, fades, sql`fades_at desc, id desc`)]),
      head(lasting, lasts, sql`2 desc, 1 desc`),
    ];
  });
  // Rows that no fold has seen, of keys with very many.
  const unfolded = [...new Set(streams.map(({ agent }) => agent))].map((agent) =>
    whole(sql`agent_id = ${agent} and claim_tier is null`),
  );
  return sql.join([...heads, ...unfolded], sql` union all `);
}

/**
 * Half-lives until a claim's score is 0.2: by when it fades or, of pinned claims, which do not, by the formula. Unlike a
 * power of it, it cannot underflow.
 */
function strengthAt(at: Date) {
  const time = sql`${at.toISOString()}::timestamptz`;
  const halfLife = sql`(86400 * coalesce(claim_half_life_days, half_life_days))`;
  const fading = sql`extract(epoch from fades_at - ${time})::float8 / ${halfLife}`;
  const lasting = sql`ln(greatest(coalesce(claim_confidence, confidence), 1e-9) / 0.2) / ln(2::float8)
    - greatest(0, extract(epoch from ${time} - coalesce(last_confirmed_at, observed_at)))::float8 / ${halfLife}`;
  return { fading, lasting, either: sql`coalesce(${fading}, ${lasting})` };
}

function filters({ agents, agentId, tier, tag, pinned, contested, words, now }: Wanted): SQL {
  const given = [
    sql`(expires_at is null or expires_at > ${now.toISOString()}::timestamptz)`,
    agents && inArray(sql`agent_id`, [...agents]),
    agentId === undefined ? undefined : sql`agent_id = ${agentId}`,
    tier === undefined ? undefined : sql`coalesce(claim_tier, tier) = ${tier}`,
    tag === undefined ? undefined : sql`${tag}::text = any(coalesce(claim_tags, tags))`,
    pinned ? sql`pinned` : undefined,
    contested ? sql`contested` : undefined,
    ...words.map((word) => sql`strpos(search_text, ${word}) > 0`),
  ];
  return sql.join(
    given.filter((condition) => condition !== undefined),
    sql` and `,
  );
}
