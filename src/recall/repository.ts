import { and, desc, eq, gte, inArray, isNotNull, lte, or, type SQL, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import { factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactScope, ownerOf, type Slot } from "../facts/row.ts";

/** Keys that one recall folds, per scope: some 20 ms of work. */
const KEYS = 300;
/** Rows that a search without an index of words looks through, newest first, so that its time has a bound. */
const SEARCHED_ROWS = 10_000;
const SEARCHED_MESSAGES = 1000;
const MESSAGE_CHARACTERS = 4000;

export interface FactFilter {
  /** The pockets that may be read. */
  readonly agents: readonly string[];
  readonly keyPrefix?: string | undefined;
  /** Only keys of which some row holds one of these texts, as they stand. */
  readonly fragments?: readonly string[] | undefined;
  readonly asOf?: Date | undefined;
  readonly includeArchived: boolean;
}

export interface StoredMessage {
  readonly id: string;
  readonly direction: "inbound" | "outbound";
  readonly channel: string;
  readonly forwarded: boolean;
  readonly text: string;
  readonly sentAt: Date;
}

export class RecallRepository {
  /** The keys in question, best first as their last consolidation has them; what they say is for the fold. */
  async keys(scope: FactScope, filter: FactFilter, tx: Tx): Promise<Slot[]> {
    const rows = await tx.execute<{ agent_id: string; key: string }>(
      filter.fragments ? found(scope, filter, filter.fragments) : strongest(scope, filter),
    );
    return rows.map(({ agent_id: agentId, key }) => ({ agentId, key }));
  }

  /** The newest messages of one person that hold text and were not kept out by the person, newest first. */
  async messages(
    { orgId }: { readonly orgId: string },
    userId: string,
    { since, asOf }: { readonly since?: Date | undefined; readonly asOf?: Date | undefined },
    tx: Tx,
  ): Promise<StoredMessage[]> {
    const rows = await tx
      .select({
        id: chatMessages.id,
        direction: chatMessages.direction,
        channel: chatMessages.channel,
        forwarded: chatMessages.forwarded,
        text: sql<string>`left(${chatMessages.text}, ${MESSAGE_CHARACTERS})`,
        sentAt: chatMessages.sentAt,
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.userId, userId),
          eq(chatMessages.optedOut, false),
          isNotNull(chatMessages.text),
          since && gte(chatMessages.sentAt, since),
          asOf && lte(chatMessages.sentAt, asOf),
        ),
      )
      .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
      .limit(SEARCHED_MESSAGES);
    return rows;
  }
}

function inReach(scope: FactScope, { agents, keyPrefix, asOf, includeArchived }: FactFilter) {
  const { table, owner } = factTables[scope.name];
  // A merged row's claim may live; what lived at an earlier time only the fold can tell.
  const recallable = sql`(${table.archivedAt} is null or ${table.archivedReason} = 'merged')`;
  return and(
    eq(table.orgId, scope.orgId),
    eq(owner, ownerOf(scope)),
    inArray(table.agentId, [...agents]),
    includeArchived || asOf ? undefined : recallable,
    asOf && lte(table.observedAt, asOf),
    keyPrefix === undefined
      ? undefined
      : or(eq(table.key, keyPrefix), sql`starts_with(${table.key}, ${`${keyPrefix}.`})`),
  );
}

/** By the score of their best claim when the scope was last told something: the wall clock would make the choice move. */
function strongest(scope: FactScope, filter: FactFilter): SQL {
  const { table, owner } = factTables[scope.name];
  return sql`
    select agent_id, key from (
      select ${table.agentId}, ${table.key}, ${table.observedAt},
        coalesce(claim_confidence, confidence) * power(0.5, greatest(0, extract(epoch from
          (select max(observed_at) from ${table} where ${owner} = ${ownerOf(scope)})
            - coalesce(last_confirmed_at, observed_at))) / 86400 / coalesce(claim_half_life_days, half_life_days))
          * case when contested then 0.5 else 1 end as score
      from ${table} where ${inReach(scope, filter)} and merged_into is null
    ) claims group by agent_id, key
    order by max(score) desc, max(observed_at) desc, agent_id collate "C", key collate "C" limit ${KEYS}`;
}

/** Byte order for keys: databases of different locales have to cut the list at the same place. */
function found(scope: FactScope, filter: FactFilter, fragments: readonly string[]): SQL {
  const { table } = factTables[scope.name];
  const hits = fragments.map(
    (fragment) => sql`(strpos(${table.searchText}, ${fragment}) > 0)::int`,
  );
  return sql`
    select agent_id, key from (
      select ${table.agentId}, ${table.key}, ${table.observedAt}, ${sql.join(hits, sql` + `)} as hits
      from ${table} where ${inReach(scope, filter)}
      order by ${table.observedAt} desc, ${table.id} desc limit ${SEARCHED_ROWS}
    ) newest where hits > 0 group by agent_id, key
    order by max(hits) desc, max(observed_at) desc, agent_id collate "C", key collate "C" limit ${KEYS}`;
}
