import { sql } from "drizzle-orm";
import { isUnavailable } from "../db/faults.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import {
  bestHits,
  MAX_PARTS,
  type VectorDocument,
  type VectorHit,
  type VectorIndex,
  type VectorScope,
  type VectorSearch,
} from "./index.ts";
import type { UpstashClient } from "./upstash-client.ts";
import {
  documentIdOf,
  filterOf,
  metadataOf,
  namespaceOf,
  vectorIdOf,
  vectorIdsOf,
} from "./upstash-namespace.ts";

/** A filter has a budget, and past it fewer vectors come back than were asked for. */
const OVER_FETCH = 2;
const MOST_HITS = 1_000;
/** Of 1,536 numbers each some two megabytes of JSON. */
const BATCH = 100;

/** Vectors in Upstash Vector, which is told of writes and deletions a little later than the database. */
export class UpstashVectorIndex implements VectorIndex {
  readonly name = "upstash";
  readonly #client: UpstashClient;
  readonly #transactions: Transactions;

  constructor(client: UpstashClient, transactions: Transactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  async prepare(dimensions?: number): Promise<string | undefined> {
    try {
      const { dimension, similarityFunction } = await this.#client.use((index) => index.info());
      if (similarityFunction !== "COSINE") {
        return "the Upstash index compares by another measure than COSINE, and the scores of recall mean nothing: make one with COSINE";
      }
      if (dimensions !== undefined && dimension !== dimensions) {
        return `the Upstash index has ${dimension} dimensions and the embedder's vectors have ${dimensions}: make an index of ${dimensions}; until then only text is searched`;
      }
      return undefined;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return "the Upstash index does not answer, or refuses: check UPSTASH_VECTOR_REST_URL and UPSTASH_VECTOR_REST_TOKEN; until then only text is searched";
    }
  }

  /** New vectors take the places of old ones, and those of documents that are gone were deleted with these. */
  async forget(): Promise<number> {
    return 0;
  }

  async search(
    scopes: readonly VectorScope[],
    vector: Float32Array,
    { modelId, limit, signal }: VectorSearch,
  ): Promise<VectorHit[]> {
    if (limit < 1) return [];
    const topK = Math.min(limit * MAX_PARTS * OVER_FETCH, MOST_HITS);
    const places = Map.groupBy(scopes, namespaceOf);
    const answers = await Promise.all(
      [...places].map(([namespace, of]) =>
        this.#client.use(
          (index) =>
            index
              .namespace(namespace)
              .query({ vector: [...vector], topK, filter: filterOf(of, modelId) }),
          signal,
        ),
      ),
    );
    const hits = answers.flat().flatMap(({ id, score }) => {
      const documentId = documentIdOf(id);
      // The score of a cosine index is (1 + cosine) / 2.
      return documentId && Number.isFinite(score) ? [{ documentId, cosine: 2 * score - 1 }] : [];
    });
    return bestHits(hits, limit);
  }

  async store(
    scope: VectorScope,
    documents: readonly VectorDocument[],
    modelId: number,
  ): Promise<void> {
    if (documents.length === 0) return;
    const namespace = namespaceOf(scope);
    const ids = documents.map(({ documentId }) => documentId);
    // Noted before anything is sent: whatever happens next, a deletion knows that there may be something to delete.
    const known = await this.#inTenant(scope, (tx) => note(scope.orgId, namespace, ids, tx));
    const metadata = metadataOf(scope, modelId);
    const there = documents.filter(({ documentId }) => known.has(documentId));
    const vectors = there.flatMap(({ documentId, parts }) =>
      parts.map((part, at) => ({ id: vectorIdOf(documentId, at), vector: [...part], metadata })),
    );
    for (let at = 0; at < vectors.length; at += BATCH) {
      const batch = vectors.slice(at, at + BATCH);
      await this.#client.use((index) => index.namespace(namespace).upsert(batch));
    }
    const stale = there
      .filter(({ documentId }) => known.get(documentId))
      .flatMap(({ documentId, parts }) => vectorIdsOf(documentId).slice(parts.length));
    for (let at = 0; at < stale.length; at += BATCH * MAX_PARTS) {
      const batch = stale.slice(at, at + BATCH * MAX_PARTS);
      await this.#client.use((index) => index.namespace(namespace).delete(batch));
    }
    const sent = there.map(({ documentId }) => documentId);
    await this.#inTenant(scope, (tx) => deleteGone(scope.orgId, namespace, sent, tx));
  }

  #inTenant<T>({ orgId }: VectorScope, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#transactions.tenant({ orgId }, work);
  }
}

/** @returns the documents that are there, and whether each may have had vectors before */
async function note(
  orgId: string,
  namespace: string,
  ids: readonly string[],
  tx: Tx,
): Promise<Map<string, boolean>> {
  const rows = await tx.execute<{ id: string; had: boolean }>(sql`
    with before as (
      select id, remote_namespace is not null as had from search_documents
      where org_id = ${orgId} and id in ${ids} order by id for update)
    update search_documents d set remote_namespace = ${namespace}
    from before b where d.org_id = ${orgId} and d.id = b.id
    returning d.id, b.had`);
  return new Map(rows.map(({ id, had }) => [id, had]));
}

/** What was deleted while its vectors were on their way may have arrived after its deletion. */
async function deleteGone(
  orgId: string,
  namespace: string,
  ids: readonly string[],
  tx: Tx,
): Promise<void> {
  await tx.execute(sql`
    insert into vector_deletions (org_id, namespace, document_id)
    select ${orgId}::uuid, ${namespace}, g.id
    from json_array_elements_text(${JSON.stringify(ids)}::json) as t(text), lateral (select t.text::uuid as id) g
    where not exists (select 1 from search_documents d where d.org_id = ${orgId} and d.id = g.id)`);
}
