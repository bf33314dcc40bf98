import { and, asc, desc, eq, gt, inArray, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import { SEARCHED_CHARACTERS } from "./analysis.ts";
import { BEFORE_CHARACTERS, type Before, withoutName } from "./embedded-text.ts";

/** Somebody who comes back after hours speaks of something else. */
const SESSION_GAP = "6 hours";

interface Org {
  readonly orgId: string;
}

/** A message as the index reads it. */
export interface IndexedMessage {
  readonly id: string;
  /** Null: it is not searched. */
  readonly userId: string | null;
  readonly storeId: string | null;
  readonly direction: "inbound" | "outbound";
  readonly forwarded: boolean;
  readonly text: string;
  readonly sentAt: Date;
  /** The message before it that is searched too, and its end. */
  readonly contextId: string | null;
  readonly before: Before | null;
}

/** Reads the archive for the index. */
export class SearchMessageRepository {
  /**
   * Makes writers of these people's messages take turns until the transaction ends: each has to see what the one before it
   * archived, or neither would be searched with the other. To be taken before any row of them is locked: whoever holds it
   * writes neighbours' rows.
   */
  async lock({ orgId }: Org, userIds: readonly string[], tx: Tx): Promise<void> {
    await tx.execute(sql`
      select pg_advisory_xact_lock(hashtextextended(${orgId}::text || id, 4)) from (
        select distinct id from json_array_elements_text(${JSON.stringify(userIds)}::json) person(id) order by id) people`);
  }

  /** The newest messages of these people that wait for the index, e.g. because what they were searched with is gone. */
  async dueOf(
    { orgId }: Org,
    userIds: readonly string[],
    limit: number,
    tx: Tx,
  ): Promise<string[]> {
    const rows = await tx
      .select({ id: chatMessages.id })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.searchDue, true),
          inArray(chatMessages.userId, [...userIds]),
        ),
      )
      .orderBy(desc(chatMessages.id))
      .limit(limit);
    return rows.map(({ id }) => id);
  }

  /**
   * These messages, and those that are searched together with one of them. One that is not searched (no person, no text,
   * opted out, never sent) is among them without a person.
   */
  async affected({ orgId }: Org, ids: readonly string[], tx: Tx): Promise<IndexedMessage[]> {
    const rows = await tx.execute<{
      id: string;
      user_id: string | null;
      store_id: string | null;
      direction: "inbound" | "outbound";
      forwarded: boolean;
      text: string;
      sent_at: string;
      context_id: string | null;
      before: string | null;
      before_direction: "inbound" | "outbound" | null;
    }>(sql`
      with asked as materialized (
        select * from chat_messages where org_id = ${orgId} and id = any(${sqlArray(ids)}::uuid[])),
      affected as (
        select id from asked
        union select d.id from search_documents d where d.org_id = ${orgId} and d.context_id in (select id from asked)
        union select next.id from asked m cross join lateral (
          select n.id from chat_messages n
          where n.org_id = ${orgId} and n.user_id = m.user_id and (n.sent_at, n.id) > (m.sent_at, m.id)
            and n.sent_at <= m.sent_at + ${SESSION_GAP}::interval and n.channel = m.channel and n.account = m.account
            and n.conversation_id = m.conversation_id and n.text <> '' and not n.opted_out
            and ${wasSaid("n")}
          order by n.sent_at, n.id limit 1) next)
      select m.id, case when m.text <> '' and not m.opted_out and ${wasSaid("m")} then m.user_id end as user_id, m.store_id, m.direction,
        m.forwarded, coalesce(left(m.text, ${SEARCHED_CHARACTERS}), '') as text, m.sent_at, earlier.id as context_id,
        earlier.text as before, earlier.direction as before_direction
      from chat_messages m left join lateral (
        select p.id, p.direction, right(p.text, ${BEFORE_CHARACTERS}) as text from chat_messages p
        where p.org_id = ${orgId} and p.user_id = m.user_id and (p.sent_at, p.id) < (m.sent_at, m.id)
          and p.sent_at >= m.sent_at - ${SESSION_GAP}::interval and p.channel = m.channel and p.account = m.account
          and p.conversation_id = m.conversation_id and p.text <> '' and not p.opted_out
          and ${wasSaid("p")}
        order by p.sent_at desc, p.id desc limit 1) earlier on true
      where m.org_id = ${orgId} and m.id in (select id from affected)`);
    return rows.map((row) => ({
      id: row.id,
      userId: row.user_id,
      storeId: row.store_id,
      direction: row.direction,
      forwarded: row.forwarded,
      text: row.text,
      sentAt: new Date(row.sent_at),
      contextId: row.context_id,
      before:
        row.before === null
          ? null
          : { text: withoutName(row.before), isAssistant: row.before_direction === "outbound" },
    }));
  }

  /** Messages of every org that wait for the index, by id; needs a system transaction. */
  due(
    after: string,
    limit: number,
    tx: Tx,
  ): Promise<{ id: string; orgId: string; userId: string | null }[]> {
    return tx
      .select({ id: chatMessages.id, orgId: chatMessages.orgId, userId: chatMessages.userId })
      .from(chatMessages)
      .where(and(eq(chatMessages.searchDue, true), gt(chatMessages.id, after)))
      .orderBy(asc(chatMessages.id))
      .limit(limit);
  }
}

/** Not what is only being sent, or never was. */
function wasSaid(message: string) {
  return sql.raw(`coalesce(${message}.delivery_status, 'sent') not in ('sending', 'failed')`);
}
