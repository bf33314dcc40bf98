import { and, eq, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import { searchDocuments, searchPostings, searchScopes } from "../db/schema/search.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Content } from "./document.ts";
import { nameOfScope, type ScopeName } from "./scope.ts";

interface Org {
  readonly orgId: string;
}

/** A document as it is stored, without its words. */
export interface StoredDocument extends Omit<Content, "postings"> {
  readonly id: string;
  readonly scope: ScopeName;
  readonly scopeId: number;
  readonly contextId: string | null;
}

export interface NewDocument extends Content {
  readonly id: string;
  readonly scope: ScopeName;
  /** Of a message: the one before it. */
  readonly contextId: string | null;
}

/** What a write adds to a scope's totals; less than 0 where it takes away. */
export interface ScopeChange {
  readonly scope: ScopeName;
  readonly documents: number;
  readonly length: number;
  readonly contextLength: number;
  /** Some of its documents need a vector. */
  readonly embedDue: boolean;
}

export interface LockedScope {
  readonly id: number;
  /** Documents were deleted since it was counted. */
  readonly recountDue: boolean;
  /** Documents of it wait for a vector. */
  readonly embedDue: boolean;
}

/** Documents and their words. Whoever writes them holds their scopes, locked by `change` in one order for all. */
export class SearchRepository {
  async find({ orgId }: Org, ids: readonly string[], tx: Tx): Promise<StoredDocument[]> {
    if (ids.length === 0) return [];
    const rows = await tx
      .select({
        id: searchDocuments.id,
        scopeId: searchDocuments.scopeId,
        kind: searchScopes.kind,
        storeId: searchScopes.storeId,
        userId: searchScopes.userId,
        agentId: searchScopes.agentId,
        archived: searchScopes.archived,
        contextId: searchDocuments.contextId,
        length: searchDocuments.length,
        contextLength: searchDocuments.contextLength,
        tokens: searchDocuments.tokens,
        textHash: searchDocuments.textHash,
        wordsHash: searchDocuments.wordsHash,
      })
      .from(searchDocuments)
      .innerJoin(
        searchScopes,
        and(eq(searchScopes.orgId, orgId), eq(searchScopes.id, searchDocuments.scopeId)),
      )
      .where(
        and(
          eq(searchDocuments.orgId, orgId),
          sql`${searchDocuments.id} = any(${sqlArray(ids)}::uuid[])`,
        ),
      );
    return rows.map(({ kind, storeId, userId, agentId, archived, ...document }) => ({
      ...document,
      scope: { kind, storeId, userId, agentId, archived },
    }));
  }

  /**
   * Adds to the totals of scopes, makes those that are new, and holds all until the transaction ends.
   *
   * @returns the scopes by name
   */
  async change(
    { orgId }: Org,
    changes: readonly ScopeChange[],
    tx: Tx,
  ): Promise<Map<string, LockedScope>> {
    const rows = changes.map(({ scope, ...totals }) => ({ ...scope, ...totals }));
    const locked = await tx.execute<{
      id: string;
      kind: ScopeName["kind"];
      store_id: string | null;
      user_id: string | null;
      agent_id: string;
      archived: boolean;
      recount_due: boolean;
      embed_due: boolean;
    }>(sql`
      insert into search_scopes as s (org_id, kind, store_id, user_id, agent_id, archived,
        documents, length, context_length, embed_due)
      select ${orgId}::uuid, kind, "storeId", "userId", "agentId", archived, documents, length, "contextLength",
        "embedDue" and kind <> 'message'
      from json_to_recordset(${JSON.stringify(rows)}::json) as changed(kind text, "storeId" uuid, "userId" uuid,
        "agentId" text, archived boolean, documents int, length bigint, "contextLength" bigint, "embedDue" boolean)
      on conflict on constraint search_scopes_scope do update set
        documents = s.documents + excluded.documents,
        length = s.length + excluded.length,
        context_length = s.context_length + excluded.context_length,
        embed_due = s.embed_due or excluded.embed_due or s.embed_messages
      returning id::text, kind, store_id, user_id, agent_id, archived, recount_due, embed_due`);
    return new Map(
      locked.map((row) => [
        nameOfScope({
          kind: row.kind,
          storeId: row.store_id,
          userId: row.user_id,
          agentId: row.agent_id,
          archived: row.archived,
        }),
        { id: Number(row.id), recountDue: row.recount_due, embedDue: row.embed_due },
      ]),
    );
  }

  /** Writes documents with their words; of those that are there already, what changed but for their scope and text. */
  async write(
    { orgId }: Org,
    documents: readonly (NewDocument & { readonly scopeId: number })[],
    tx: Tx,
  ): Promise<void> {
    if (documents.length === 0) return;
    const rows = documents.map(({ postings, scope: { kind }, ...document }) => ({
      ...document,
      kind,
      terms: postings.map(({ term }) => term),
      own: postings.map(({ frequency }) => frequency),
      context: postings.map(({ contextFrequency }) => contextFrequency),
    }));
    await tx.execute(sql`
      with document as materialized (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as document(id uuid, kind text, "scopeId" bigint,
          "contextId" uuid, length smallint, "contextLength" smallint, tokens int, "textHash" text, "wordsHash" text,
          terms text[], own smallint[], context smallint[])),
      written as (
        insert into search_documents (id, org_id, scope_id, org_fact_id, store_fact_id, user_fact_id, message_id,
          context_id, length, context_length, tokens, text_hash, words_hash)
        select id, ${orgId}::uuid, "scopeId", case kind when 'org' then id end, case kind when 'store' then id end,
          case kind when 'user' then id end, case kind when 'message' then id end,
          "contextId", length, "contextLength", tokens, "textHash", "wordsHash" from document
        on conflict (id) do update set context_id = excluded.context_id, length = excluded.length,
          context_length = excluded.context_length, tokens = excluded.tokens, words_hash = excluded.words_hash
          where search_documents.org_id = excluded.org_id)
      insert into search_postings (org_id, scope_id, term, document_id, frequency, context_frequency, length,
        context_length)
      select ${orgId}::uuid, "scopeId", word.term, id, word.own, word.context, length, "contextLength"
      from document cross join lateral unnest(terms, own, context) as word(term, own, context)`);
  }

  /** Their words and vectors go with them. */
  async delete({ orgId }: Org, ids: readonly string[], tx: Tx): Promise<void> {
    if (ids.length === 0) return;
    await tx
      .delete(searchDocuments)
      .where(
        and(
          eq(searchDocuments.orgId, orgId),
          sql`${searchDocuments.id} = any(${sqlArray(ids)}::uuid[])`,
        ),
      );
  }

  async deleteWords({ orgId }: Org, ids: readonly string[], tx: Tx): Promise<void> {
    if (ids.length === 0) return;
    await tx
      .delete(searchPostings)
      .where(
        and(
          eq(searchPostings.orgId, orgId),
          sql`${searchPostings.documentId} = any(${sqlArray(ids)}::uuid[])`,
        ),
      );
  }

  /** @param counted scopes of which the totals are right, whatever was deleted meanwhile */
  async setCounted({ orgId }: Org, counted: readonly number[], tx: Tx): Promise<void> {
    if (counted.length === 0) return;
    await tx
      .update(searchScopes)
      .set({ recountDue: false })
      .where(
        and(
          eq(searchScopes.orgId, orgId),
          sql`${searchScopes.id} = any(${sqlArray(counted)}::bigint[])`,
        ),
      );
  }

  /** Counts anew what these scopes hold. */
  async recount({ orgId }: Org, scopeIds: readonly number[], tx: Tx): Promise<void> {
    if (scopeIds.length === 0) return;
    await tx.execute(sql`
      update search_scopes s set recount_due = false,
        (documents, length, context_length) = (
          select count(*), coalesce(sum(d.length), 0), coalesce(sum(d.context_length), 0)
          from search_documents d where d.org_id = ${orgId} and d.scope_id = s.id)
      where s.org_id = ${orgId} and s.id = any(${sqlArray(scopeIds)}::bigint[])`);
  }

  /** Says of messages that the index knows them as they are. */
  async setIndexed({ orgId }: Org, messageIds: readonly string[], tx: Tx): Promise<void> {
    await tx
      .update(chatMessages)
      .set({ searchDue: false })
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          sql`${chatMessages.id} = any(${sqlArray(messageIds)}::uuid[])`,
          eq(chatMessages.searchDue, true),
        ),
      );
  }
}

/** One parameter, however many there are. */
