import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import { memoryCounts } from "../db/schema/counts.ts";
import { orgs } from "../db/schema/orgs.ts";
import type { Tx } from "../db/tenant.ts";
import {
  type CountedDay,
  dayOf,
  MAX_WAITING,
  MemoryCounts,
  type PersonCounts,
  SMALL_ORG,
  type Waiting,
} from "./counts.ts";

interface Org {
  readonly orgId: string;
}

/** Keys with contested claims are counted from this many claims at most. */
const CONTESTED_CLAIMS = 4 * MAX_WAITING;

/** Counts over the tables of every domain. */
export class OverviewRepository {
  /** Every org, to be counted one by one. Needs a system transaction. */
  async orgIds(tx: Tx): Promise<string[]> {
    const rows = await tx.select({ id: orgs.id }).from(orgs).orderBy(asc(orgs.id));
    return rows.map(({ id }) => id);
  }

  /** The counted days since then, oldest first. */
  async days({ orgId }: Org, since: Date, tx: Tx): Promise<CountedDay[]> {
    const rows = await tx
      .select()
      .from(memoryCounts)
      .where(and(eq(memoryCounts.orgId, orgId), gte(memoryCounts.day, dayOf(since))))
      .orderBy(asc(memoryCounts.day));
    return rows.map(({ day, countedAt, counts }) => ({
      day,
      countedAt,
      counts: MemoryCounts.parse(JSON.parse(counts)),
    }));
  }

  /** Keeps the last count of each day. */
  async save({ orgId }: Org, { countedAt, counts }: Omit<CountedDay, "day">, tx: Tx) {
    const row = { countedAt, counts: JSON.stringify(counts) };
    await tx
      .insert(memoryCounts)
      .values({ orgId, day: dayOf(countedAt), ...row })
      .onConflictDoUpdate({
        target: [memoryCounts.orgId, memoryCounts.day],
        set: row,
        setWhere: lt(memoryCounts.countedAt, countedAt),
      });
  }

  /** Whether an org can be counted while somebody waits. Stops looking where it is large. */
  async isSmall({ orgId }: Org, tx: Tx): Promise<boolean> {
    const some = (table: string) => sql`(select count(*) from
      (select from ${sql.raw(table)} where org_id = ${orgId} limit ${SMALL_ORG + 1}) counted)`;
    const [row] = await tx.execute<{ most: string }>(sql`
      select greatest(${some("users")}, ${some("chat_messages")}, ${some("memory_kv")},
        ${some("org_facts")}, ${some("store_facts")}, ${some("user_facts")}) as most`);
    return Number(row?.most) <= SMALL_ORG;
  }

  /** Reads every row of the org: a second for a million messages. */
  async count({ orgId }: Org, now: Date, tx: Tx): Promise<MemoryCounts> {
    const live = (scope: string) => sql`
      select ${scope} as scope, agent_id, count(*) as live from ${sql.raw(`${scope}_facts`)}
      where org_id = ${orgId} and ${isLive(now)} group by agent_id`;
    const [row] = await tx.execute<{ counts: string }>(sql`
      select json_build_object(
        'people', (select count(*) from users where org_id = ${orgId} and linked_into is null),
        'messages', (select count(*) from chat_messages where org_id = ${orgId}),
        'entries', (select count(*) from memory_kv where org_id = ${orgId}),
        'facts', (select coalesce(json_agg(json_build_object('scope', scope, 'agentId', agent_id,
            'live', live) order by live desc, scope, agent_id), '[]')
          from (${live("org")} union all ${live("store")} union all ${live("user")}) facts)
      )::text as counts`);
    return MemoryCounts.parse(JSON.parse(row?.counts ?? ""));
  }

  async waiting({ orgId }: Org, now: Date, tx: Tx): Promise<Waiting> {
    const upTo = (rows: ReturnType<typeof sql>) =>
      sql`(select count(*) from (${rows} limit ${MAX_WAITING}) waiting)`;
    const contested = (table: string, owner: string) =>
      upTo(sql`
      select distinct owner, agent_id, key from (
        select ${sql.raw(owner)} as owner, agent_id, key from ${sql.raw(table)}
        where org_id = ${orgId} and contested and ${isLive(now)} limit ${CONTESTED_CLAIMS}) claims`);
    const [row] = await tx.execute<{ waiting: string }>(sql`
      select json_build_object(
        'contradictions', least(${MAX_WAITING}::int, ${contested("org_facts", "org_id")}
          + ${contested("store_facts", "store_id")} + ${contested("user_facts", "user_id")}),
        'duplicates', ${upTo(sql`select from possible_duplicates
          where org_id = ${orgId} and dismissed_at is null`)},
        'pendingPeople', ${upTo(sql`select from users
          where org_id = ${orgId} and status = 'pending' and linked_into is null`)},
        'corrections', ${upTo(sql`select from turns where org_id = ${orgId} and is_correction
          and (state = 'dead' or (state = 'closed' and reason = 'extraction-off'))`)},
        'deadLetters', least(${MAX_WAITING}::int, ${upTo(sql`select from forward_deliveries
          where org_id = ${orgId} and state = 'dead'`)}
          + ${upTo(sql`select from turns where org_id = ${orgId} and state = 'dead'`)})
      )::text as waiting`);
    return JSON.parse(row?.waiting ?? "") as Waiting;
  }

  async person(
    { orgId, userId }: Org & { readonly userId: string },
    now: Date,
    tx: Tx,
  ): Promise<PersonCounts> {
    const upTo = (table: string) => sql`(select count(*) from (select from ${sql.raw(table)}
      where org_id = ${orgId} and user_id = ${userId} limit ${SMALL_ORG}) counted)`;
    const [row] = await tx.execute<{ counts: string }>(sql`
      select json_build_object(
        'messages', ${upTo("chat_messages")},
        'entries', ${upTo("memory_kv")},
        'facts', (select coalesce(json_agg(json_build_object('scope', 'user', 'agentId', agent_id,
            'live', live) order by live desc, agent_id), '[]')
          from (select agent_id, count(*) as live from (select agent_id from user_facts
            where org_id = ${orgId} and user_id = ${userId} and ${isLive(now)}
            limit ${SMALL_ORG}) facts group by agent_id) agents)
      )::text as counts`);
    return JSON.parse(row?.counts ?? "") as PersonCounts;
  }
}

function isLive(now: Date) {
  return sql`merged_into is null and archived_at is null
    and (expires_at is null or expires_at > ${now.toISOString()}::timestamptz)`;
}
