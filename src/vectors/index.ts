/** What is searched as one, as `search_scopes` has it. */
export interface VectorScope {
  readonly id: number;
  readonly orgId: string;
  readonly kind: "org" | "store" | "user" | "message";
  readonly storeId: string | null;
  readonly userId: string | null;
  /** Of facts: whose pocket. Empty for messages. */
  readonly agentId: string;
  readonly documents: number;
}

/** A document to be found by its parts, e.g. the halves of a long text. */
export interface VectorDocument {
  readonly documentId: string;
  /** 1 to `MAX_PARTS`, none of them the zero vector. */
  readonly parts: readonly Float32Array[];
}

export interface VectorHit {
  readonly documentId: string;
  /** -1 to 1, rounded to six decimals, so that both databases say the same. */
  readonly cosine: number;
  /**
   * Product of its direction with the mean direction of all that were found, rounded likewise: high for what is like
   * everything else. Missing where the index cannot tell.
   */
  readonly common?: number | undefined;
}

export interface VectorSearch {
  readonly modelId: number;
  /** Most documents to return. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** A search asks for so many parts more than documents, that one document cannot push out the others. */
export const MAX_PARTS = 4;

/** Where vectors lie. Hits are ids alone: who asks reads the rows again, by tenant and state. */
export interface VectorIndex {
  readonly name: "postgres" | "upstash";
  /**
   * Called at start, after the migrations; safe to call again and from several processes.
   *
   * @param dimensions of the model that will be used, where it is known already
   * @returns what somebody should know and can cure, in one sentence; undefined when all is well
   */
  prepare(dimensions?: number): Promise<string | undefined>;
  /**
   * Best first, ties by id; a document with several parts once, by its best part. All scopes are of one org.
   *
   * @throws AppError UNAVAILABLE
   */
  search(
    scopes: readonly VectorScope[],
    vector: Float32Array,
    options: VectorSearch,
  ): Promise<VectorHit[]>;
  /**
   * Puts vectors in the place of those that the documents have of this model. Idempotent; documents that are gone
   * meanwhile are skipped. Whether a document has a vector (`search_documents.model_id`) is its caller's to note.
   *
   * @throws AppError UNAVAILABLE
   */
  store(scope: VectorScope, documents: readonly VectorDocument[], modelId: number): Promise<void>;
  /** Removes the vectors of a model that is no longer used, some at a time. @returns how many went */
  forget(modelId: number, signal: AbortSignal): Promise<number>;
}

/** So many digits both databases compute alike. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** One hit per document, by its best; best first, ties by id. */
export function bestHits(hits: Iterable<VectorHit>, limit: number): VectorHit[] {
  const best = new Map<string, number>();
  for (const hit of hits) {
    const { documentId } = hit;
    const cosine = rounded(hit.cosine);
    if (cosine > (best.get(documentId) ?? Number.NEGATIVE_INFINITY)) best.set(documentId, cosine);
  }
  return [...best]
    .map(([documentId, cosine]) => ({ documentId, cosine }))
    .sort((a, b) => b.cosine - a.cosine || (a.documentId < b.documentId ? -1 : 1))
    .slice(0, limit);
}
