import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Places } from "./erasure.ts";

interface Scope {
  readonly orgId: string;
}

/** Whose messages, or which. */
export type Said =
  | { readonly userIds: readonly string[] }
  | { readonly storeId: string }
  | { readonly ids: readonly string[] }
  | { readonly channel: string; readonly account: string; readonly conversationId: string };

export interface DoomedMessage {
  readonly id: string;
  readonly userId: string | null;
}

/** Deletes over the tables of every domain: what has no other owner goes with the person, the store or the message. */
export class ErasureRepository {
  async countMessages({ orgId }: Scope, said: Said, tx: Tx): Promise<number> {
    const [row] = await tx.execute<{ count: string }>(sql`
      select count(*) from chat_messages where org_id = ${orgId} and ${saidBy(said)}`);
    return Number(row?.count ?? 0);
  }

  /** Some of the messages. */
  async messages({ orgId }: Scope, said: Said, limit: number, tx: Tx): Promise<DoomedMessage[]> {
    const rows = await tx.execute<{ id: string; user_id: string | null }>(sql`
      select id, user_id from chat_messages where org_id = ${orgId} and ${saidBy(said)} limit ${limit}`);
    return rows.map(({ id, user_id: userId }) => ({ id, userId }));
  }

  /**
   * Messages of no person, e.g. updates that could not be read, that name one of these ids of a channel. Short ids would
   * be found in any number: they are left out.
   */
  async messagesOfNobody(
    { orgId }: Scope,
    { channel, externalIds }: { readonly channel: string; readonly externalIds: readonly string[] },
    limit: number,
    tx: Tx,
  ): Promise<DoomedMessage[]> {
    const names = externalIds.filter((id) => id.length >= NAMED_LENGTH).map(escaped);
    if (names.length === 0) return [];
    const pattern = `(^|[^[:alnum:]])(${names.join("|")})([^[:alnum:]]|$)`;
    const rows = await tx.execute<{ id: string }>(sql`
      select id from chat_messages
      where org_id = ${orgId} and user_id is null and channel = ${channel} and payload::text ~ ${pattern}
      limit ${limit}`);
    return rows.map(({ id }) => ({ id, userId: null }));
  }

  /** Some long texts of what is about to be erased, as the columns hold them: to be hashed at once. */
  async longTexts({ orgId }: Scope, said: Said, tx: Tx): Promise<string[]> {
    const parts = [
      sql`select text as sample from (select text, sent_at from chat_messages
        where org_id = ${orgId} and text is not null and ${saidBy(said)} order by sent_at desc limit 500) newest`,
    ];
    if ("userIds" in said) {
      parts.push(
        sql`select value::text from memory_kv where org_id = ${orgId} and ${saidBy(said)} limit 500`,
        sql`select value::text from user_facts where org_id = ${orgId} and ${saidBy(said)} limit 500`,
      );
    }
    if ("storeId" in said)
      parts.push(
        sql`select value::text from store_facts where org_id = ${orgId} and ${saidBy(said)} limit 500`,
      );
    const found: string[] = [];
    for (const part of parts) {
      const rows = await tx.execute<{ sample: string }>(sql`
        select sample from (${part}) texts(sample) where length(sample) between 24 and 10000
        order by length(sample) desc limit ${EACH}`);
      found.push(...rows.map(({ sample }) => sample));
    }
    return found;
  }

  /** Those of these messages that something was learned from. */
  async sourcesAmong({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<string[]> {
    const learned = ["org_facts", "store_facts", "user_facts"].map(
      (table) => sql`exists (select from ${sql.raw(table)} f where f.org_id = ${orgId}
        and (f.source_message_id = m.id or f.source_message_id >= m.id || '#' and f.source_message_id < m.id || '$'))`,
    );
    const rows = await tx.execute<{ id: string }>(sql`
      select m.id from unnest(${sqlArray(ids)}::text[]) m(id) where ${sql.join(learned, sql` or `)}`);
    return rows.map(({ id }) => id);
  }

  /** Deletes messages with their revisions, words and vectors. */
  async deleteMessages({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<Places> {
    const those = sql`${sqlArray(ids)}::uuid[]`;
    const [row] = await tx.execute<Record<"revisions" | "documents" | "vectors", string>>(sql`
      select
        (select count(*) from chat_message_revisions where org_id = ${orgId} and message_id = any(${those})) as revisions,
        (select count(*) from search_documents where org_id = ${orgId} and message_id = any(${those})) as documents,
        (select count(*) from search_documents where org_id = ${orgId} and message_id = any(${those})
          and model_id is not null) as vectors`);
    const deleted = await tx.execute(sql`
      delete from chat_messages where org_id = ${orgId} and id = any(${those}) returning 1`);
    return {
      chat_messages: deleted.length,
      chat_message_revisions: Number(row?.revisions),
      search_documents: Number(row?.documents),
      vectors: Number(row?.vectors),
    };
  }

  /** Answers kept for retries whose hash is over what one of these messages or facts said. */
  async deleteCalls({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<Places> {
    const rows = await tx.execute(sql`
      delete from idempotent_calls c where c.org_id = ${orgId} and exists (
        select from regexp_matches(c.answer::text, ${UUID}, 'g') named(id)
        where named.id[1] = any(${sqlArray(ids)}::text[]))
      returning 1`);
    return { idempotent_calls: rows.length };
  }

  /** Deletes turns of people or of a conversation, with the jobs that would learn from them. */
  async deleteTurns({ orgId }: Scope, said: Said, tx: Tx): Promise<Places> {
    const [row] = await tx.execute<Record<"turns" | "jobs" | "runs", string>>(sql`
      with gone as (
        delete from turns where org_id = ${orgId} and ${saidBy(said)} returning id),
      job as (
        delete from jobs where org_id = ${orgId} and payload->>'turnId' in (select id::text from gone) returning id),
      run as (
        delete from job_runs where org_id = ${orgId} and job_id in (select id from job) returning 1)
      select (select count(*) from gone) as turns, (select count(*) from job) as jobs,
        (select count(*) from run) as runs`);
    return { turns: Number(row?.turns), jobs: Number(row?.jobs), job_runs: Number(row?.runs) };
  }

  /** Takes reasons and details out of what was done to these; that it was done stays. */
  async clearAudit({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<Places> {
    const rows = await tx.execute(sql`
      update audit_events set reason = null, details = null
      where org_id = ${orgId} and (reason is not null or details is not null)
        and (subject_id = any(${sqlArray(ids)}::text[])
          or details::text like any(array(select '%' || id || '%' from unnest(${sqlArray(ids)}::text[]) id)))
      returning 1`);
    return { audit_events: rows.length };
  }

  /** Of people: every row that refers to them, and they themselves. */
  async deletePeople({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<Places> {
    const those = sql`${sqlArray(ids)}::uuid[]`;
    const places: Record<string, number> = {};
    for (const [table, column] of OF_PEOPLE) {
      const rows = await tx.execute(sql`
        delete from ${sql.identifier(table)} where org_id = ${orgId} and ${sql.identifier(column)} = any(${those})
        returning 1`);
      places[table] = (places[table] ?? 0) + rows.length;
    }
    const people = await tx.execute(sql`
      delete from users where org_id = ${orgId} and id = any(${those}) returning 1`);
    return { ...places, users: people.length };
  }

  /** Holds a store's row until the end, so that nobody adds to what is about to go. @returns false when it is gone */
  async holdStore({ orgId }: Scope, storeId: string, tx: Tx): Promise<boolean> {
    const rows = await tx.execute(sql`
      select 1 from stores where org_id = ${orgId} and id = ${storeId} for update`);
    return rows.length > 0;
  }

  async deleteStore({ orgId }: Scope, storeId: string, tx: Tx): Promise<Places> {
    const places: Record<string, number> = {};
    for (const [table, column] of OF_STORES) {
      const rows = await tx.execute(sql`
        delete from ${sql.identifier(table)} where org_id = ${orgId} and ${sql.identifier(column)} = ${storeId} returning 1`);
      places[table] = rows.length;
    }
    const stores = await tx.execute(sql`
      delete from stores where org_id = ${orgId} and id = ${storeId} returning 1`);
    return { ...places, stores: stores.length };
  }

  /** Vectors of the org that an index elsewhere has still to delete. */
  async vectorsWaiting({ orgId }: Scope, tx: Tx): Promise<number> {
    const [row] = await tx.execute<{ count: string }>(sql`
      select count(*) from vector_deletions where org_id = ${orgId}`);
    return Number(row?.count ?? 0);
  }
}

/** Texts taken of each kind. */
const EACH = 40;
/** Telegram's ids have so many digits at least; WhatsApp's are longer. */
const NAMED_LENGTH = 6;
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** What is deleted by itself so that it is counted; whatever else refers to a person goes with them too. */
const OF_PEOPLE: readonly (readonly [table: string, column: string])[] = [
  ["memory_kv", "user_id"],
  ["forward_deliveries", "user_id"],
  ["forward_queues", "user_id"],
  ["link_codes", "user_id"],
  ["identity_links", "from_user_id"],
  ["identity_links", "to_user_id"],
  ["api_keys", "pinned_user_id"],
  ["search_scopes", "user_id"],
  ["channel_identities", "user_id"],
];
const OF_STORES: readonly (readonly [table: string, column: string])[] = [
  ["api_keys", "pinned_store_id"],
  ["channel_accounts", "store_id"],
  ["search_scopes", "store_id"],
  ["rule_versions", "store_id"],
];

/** The condition on a table of what was said. */
function saidBy(said: Said) {
  if ("userIds" in said) return sql`user_id = any(${sqlArray(said.userIds)}::uuid[])`;
  if ("storeId" in said) return sql`store_id = ${said.storeId}`;
  if ("ids" in said) return sql`id = any(${sqlArray(said.ids)}::uuid[])`;
  const { channel, account, conversationId } = said;
  return sql`channel = ${channel} and account = ${account} and conversation_id = ${conversationId}`;
}

function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "\\$&");
}
