import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { DatabaseFault } from "../db/faults.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { searchArrays } from "./array-search.ts";
import { withCommon } from "./common-direction.ts";
import { prepareTable, type Storage, storageOf } from "./embeddings-table.ts";
import { putVectors } from "./embeddings-write.ts";
import { approximate, LARGE } from "./hnsw.ts";
import {
  bestHits,
  MAX_PARTS,
  type VectorDocument,
  type VectorHit,
  type VectorIndex,
  type VectorScope,
  type VectorSearch,
} from "./index.ts";

/** Undefined function, no such cast, other type: another process gave the column pgvector's type meanwhile. */
const OTHER_TYPE = new Set(["42883", "42846", "42804"]);
const SPARE = 50;
/** Candidates that an index looks at before it goes on in order; more find better and cost more. */
const LEAST_EF = 100;
const MOST_EF = 1_000;
/** Documents a statement: what it compares them with grows with their square while a table has no statistics. */
const AT_ONCE = 100;

/** Some tenths of a second, so that a server that stops need not wait. */
const REMOVED_AT_ONCE = 5_000;

/** Vectors beside what they are of, in PostgreSQL or the embedded database. */
export class PostgresVectorIndex implements VectorIndex {
  readonly name = "postgres";
  readonly #kind: Database["kind"];
  readonly #transactions: Transactions;
  readonly #dimensions = new Map<number, number>();
  #storage: Storage | undefined;

  constructor(database: Pick<Database, "kind" | "transactions">) {
    this.#kind = database.kind;
    this.#transactions = database.transactions;
  }

  async prepare(): Promise<string | undefined> {
    const notice = await this.#transactions.system("vector index", prepareTable);
    this.#storage = undefined;
    return notice;
  }

  async search(
    scopes: readonly VectorScope[],
    vector: Float32Array,
    { modelId, limit, signal }: VectorSearch,
  ): Promise<VectorHit[]> {
    const orgId = orgOf(scopes);
    if (orgId === undefined || limit < 1) return [];
    signal?.throwIfAborted();
    return this.#inTenant(orgId, async (storage, tx) => {
      const scopeIds = scopes.map(({ id }) => id);
      const found =
        storage.kind === "array"
          ? await searchArrays({ orgId, scopeIds, modelId }, vector, tx)
          : await this.#searchVectors({ orgId, scopes, modelId, limit, storage }, vector, tx);
      return withCommon({ orgId, scopeIds, modelId, storage }, bestHits(found, limit), tx);
    });
  }

  async store(
    scope: VectorScope,
    documents: readonly VectorDocument[],
    modelId: number,
  ): Promise<void> {
    if (documents.length === 0) return;
    const { orgId } = scope;
    await this.#inTenant(orgId, async (storage, tx) => {
      await this.#checkDimensions(documents, modelId, tx);
      for (let at = 0; at < documents.length; at += AT_ONCE) {
        await putVectors({ orgId, modelId, storage }, documents.slice(at, at + AT_ONCE), tx);
      }
    });
  }

  async forget(modelId: number, signal: AbortSignal): Promise<number> {
    for (let removed = 0; ; ) {
      signal.throwIfAborted();
      const rows = await this.#transactions.system("vector index", (tx) =>
        tx.execute(sql`
          delete from embeddings where model_id = ${modelId} and ctid = any (array(
            select ctid from embeddings where model_id = ${modelId} limit ${REMOVED_AT_ONCE})) returning 1`),
      );
      removed += rows.length;
      if (rows.length < REMOVED_AT_ONCE) return removed;
    }
  }

  async #searchVectors(
    search: {
      orgId: string;
      scopes: readonly VectorScope[];
      modelId: number;
      limit: number;
      storage: Extract<Storage, { kind: "vector" }>;
    },
    vector: Float32Array,
    tx: Tx,
  ): Promise<VectorHit[]> {
    const { orgId, scopes, modelId, limit } = search;
    const order = search.storage.indexable ? approximate(vector.length, this.#kind) : undefined;
    const isLarge = (scope: VectorScope) => order !== undefined && scope.documents > LARGE;
    const query = `[${vector.join(",")}]`;
    const branches: SQL[] = [];
    const small = scopes.filter((scope) => !isLarge(scope)).map(({ id }) => id);
    if (small.length > 0) {
      // Of all rows: an aggregate keeps the planner from an index that would leave some out.
      branches.push(sql`(
        select document_id, min(v <=> ${query}::vector) as distance from embeddings
        where org_id = ${orgId} and scope_id in ${small} and model_id = ${modelId}
        group by document_id order by distance, document_id limit ${limit})`);
    }
    const large = scopes.filter(isLarge);
    // Of documents with several parts some come more than once; most have one, and each more costs time.
    const nearest = limit + SPARE;
    for (const { id } of order ? large : []) {
      // Each scope by itself, with its id as a constant: that is what its index is found by.
      branches.push(sql`(
        select document_id, v <=> ${query}::vector as distance from (
          select document_id, v from embeddings
          where org_id = ${orgId} and scope_id = ${id} and model_id = ${modelId}
          order by ${order?.(query)} limit ${nearest}) as nearest)`);
    }
    if (large.length > 0) {
      const ef = Math.min(Math.max(nearest, LEAST_EF), MOST_EF);
      await tx.execute(sql`select set_config('hnsw.ef_search', ${String(ef)}, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true)`);
    }
    const rows = await tx.execute<{ document_id: string; distance: number }>(
      sql.join(branches, sql` union all `),
    );
    return rows.map((row) => ({ documentId: row.document_id, cosine: 1 - row.distance }));
  }

  /** A vector of another length would make every later comparison of its scope fail. */
  async #checkDimensions(documents: readonly VectorDocument[], modelId: number, tx: Tx) {
    let dimensions = this.#dimensions.get(modelId);
    if (dimensions === undefined) {
      const [model] = await tx.execute<{ dimensions: number }>(
        sql`select dimensions from embedding_models where id = ${modelId}`,
      );
      dimensions = model?.dimensions ?? 0;
      if (model) this.#dimensions.set(modelId, dimensions);
    }
    for (const { parts } of documents) {
      if (parts.length < 1 || parts.length > MAX_PARTS) throw new RangeError("1 to 4 parts");
      for (const part of parts) {
        if (part.length !== dimensions || !part.every(Number.isFinite) || !part.some(Boolean)) {
          throw new RangeError("a vector that is none of its model");
        }
      }
    }
  }

  async #inTenant<T>(orgId: string, work: (storage: Storage, tx: Tx) => Promise<T>): Promise<T> {
    const run = () =>
      this.#transactions.tenant({ orgId }, async (tx) => {
        this.#storage ??= await storageOf(tx);
        if (!this.#storage) throw new AppError("UNAVAILABLE", "the vector index is not ready yet");
        return work(this.#storage, tx);
      });
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DatabaseFault && OTHER_TYPE.has(error.code))) throw error;
      this.#storage = undefined;
      return run();
    }
  }
}

function orgOf(scopes: readonly VectorScope[]): string | undefined {
  const [first, ...others] = scopes;
  if (others.some(({ orgId }) => orgId !== first?.orgId)) {
    throw new RangeError("one search is of one org");
  }
  return first?.orgId;
}
