import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import type { Database } from "../../src/db/client.ts";
import { orgs } from "../../src/db/schema/orgs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import type { VectorDocument, VectorScope } from "../../src/vectors/index.ts";
import { openDatabase } from "../db/open-database.ts";
import type { Engine } from "../support/database.ts";

/** Numbers between -1 and 1, the same at every run. */
export function randomly(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x80000000 - 1;
  };
}

export function randomVector(dimensions: number, next: () => number): Float32Array {
  return Float32Array.from({ length: dimensions }, next);
}

export function cosineOf(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, at) => sum + value * (y[at] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** What a straight comparison says: best first, ties by id. */
export function nearest(
  documents: readonly VectorDocument[],
  query: Float32Array,
  limit: number,
): string[] {
  return documents
    .map(({ documentId, parts }) => ({
      documentId,
      cosine: Math.max(...parts.map((part) => Math.round(cosineOf(part, query) * 1e6) / 1e6)),
    }))
    .sort((a, b) => b.cosine - a.cosine || (a.documentId < b.documentId ? -1 : 1))
    .slice(0, limit)
    .map(({ documentId }) => documentId);
}

/** A database with scopes, documents and models, as facts and the search index leave them. */
export async function openSeeded(engine: Engine) {
  const opened = await openDatabase(engine);
  return { ...opened, ...seedingOf(opened.database) };
}

export function seedingOf({ transactions }: Pick<Database, "transactions">) {
  const bare = <T>(work: (tx: Tx) => Promise<T>) => transactions.system("bootstrap", work);

  async function newOrg(): Promise<{ orgId: string }> {
    const orgId = v7();
    await bare((tx) =>
      tx
        .insert(orgs)
        .values({ id: orgId, slug: `org-${orgId}`, name: "Org", createdAt: new Date(0) }),
    );
    return { orgId };
  }

  async function newModel(dimensions: number, index = "postgres"): Promise<number> {
    const [row] = await bare((tx) =>
      tx.execute<{ id: number }>(sql`
        insert into embedding_models
          (fingerprint, vector_index, dimensions, floor, merge_threshold, state, created_at)
        values (${v7()}, ${index}, ${dimensions}, 0.3, 0.8, 'active', now()) returning id`),
    );
    return (row as { id: number }).id;
  }

  async function newScope(orgId: string, agentId: string = v7()): Promise<VectorScope> {
    const [row] = await bare((tx) =>
      tx.execute<{ id: string }>(sql`
        insert into search_scopes (org_id, kind, agent_id, archived)
        values (${orgId}, 'org', ${agentId}, false) returning id::text as id`),
    );
    const id = Number(row?.id);
    return { id, orgId, kind: "org", storeId: null, userId: null, agentId, documents: 0 };
  }

  /** Facts of an org with their documents. @returns their ids, ascending */
  async function newDocuments(scope: VectorScope, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => v7()).sort();
    await bare(async (tx) => {
      await tx.execute(sql`
        insert into org_facts select fact.* from json_array_elements_text(${JSON.stringify(ids)}::json) as id,
          lateral json_populate_record(null::org_facts, json_build_object(
            'id', id, 'org_id', ${scope.orgId}::text, 'agent_id', 'atlas', 'key', 'k', 'value', 1, 'search_text', '',
            'confidence', 0.8, 'tags', '[]'::json, 'tier', 'core', 'half_life_days', 1, 'source_message_id', id,
            'written_by', 'test', 'observed_at', '2026-01-01', 'created_at', '2026-01-01', 'pinned', false,
            'contested', false, 'confirmation_count', 1)) as fact`);
      await tx.execute(sql`
        insert into search_documents select document.* from json_array_elements_text(${JSON.stringify(ids)}::json) as id,
          lateral json_populate_record(null::search_documents, json_build_object(
            'id', id, 'org_id', ${scope.orgId}::text, 'scope_id', ${scope.id}::bigint, 'org_fact_id', id, 'length', 1,
            'context_length', 1, 'tokens', 1, 'text_hash', '', 'words_hash', '')) as document`);
      await tx.execute(
        sql`update search_scopes set documents = documents + ${count} where id = ${scope.id}`,
      );
    });
    return ids;
  }

  return { bare, newOrg, newModel, newScope, newDocuments };
}

export type Seeded = Awaited<ReturnType<typeof openSeeded>>;
