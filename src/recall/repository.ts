import {
  and,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import { factRowOf, factTables } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactRow, type FactScope, ownerOf, readRow } from "../facts/row.ts";

/** Rows that one recall folds, per scope: some 20 ms of work. */
const ROWS = 2000;
/** Keys that a search takes into the ranking, per scope. */
const KEYS = 200;
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
  /** The newest rows of the keys in question, whole keys so that a claim's confirmations and rivals come along. */
  async facts(scope: FactScope, filter: FactFilter, tx: Tx): Promise<FactRow[]> {
    const { table } = factTables[scope.name];
    const rows = await tx
      .select(factRowOf(table))
      .from(table)
      .where(
        and(
          eq(table.orgId, scope.orgId),
          inReach(scope, filter),
          filter.fragments && found(scope, filter, filter.fragments),
        ),
      )
      .orderBy(desc(table.observedAt), desc(table.id))
      .limit(ROWS);
    return rows.map(readRow);
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
  const unarchived = asOf
    ? or(isNull(table.archivedAt), sql`${table.archivedAt} > ${asOf.toISOString()}`)
    : isNull(table.archivedAt);
  return and(
    eq(table.orgId, scope.orgId),
    eq(owner, ownerOf(scope)),
    inArray(table.agentId, [...agents]),
    includeArchived ? undefined : unarchived,
    asOf && lte(table.observedAt, asOf),
    keyPrefix === undefined
      ? undefined
      : or(eq(table.key, keyPrefix), sql`starts_with(${table.key}, ${`${keyPrefix}.`})`),
  );
}

/** Byte order for keys: databases of different locales have to cut the list at the same place. */
function found(scope: FactScope, filter: FactFilter, fragments: readonly string[]): SQL {
  const { table } = factTables[scope.name];
  const hits = fragments.map(
    (fragment) => sql`(strpos(${table.searchText}, ${fragment}) > 0)::int`,
  );
  return sql`(${table.agentId}, ${table.key}) in (
    select agent_id, key from (
      select ${table.agentId}, ${table.key}, ${table.observedAt}, ${sql.join(hits, sql` + `)} as hits
      from ${table} where ${inReach(scope, filter)}
      order by ${table.observedAt} desc, ${table.id} desc limit ${SEARCHED_ROWS}
    ) newest where hits > 0 group by agent_id, key
    order by max(hits) desc, max(observed_at) desc, agent_id collate "C", key collate "C" limit ${KEYS}
  )`;
}
