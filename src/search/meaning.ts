import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { Embedder } from "../embeddings/embedder.ts";
import { AppError } from "../errors.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { VectorHit, VectorIndex } from "../vectors/index.ts";
import { embeddedQuery } from "./embedded-text.ts";
import type { EmbeddingRepository } from "./embedding-repository.ts";
import type { SearchScope } from "./scope.ts";

export const EMBED_JOB = "search.embed";
/** What is written together is embedded together. */
const SOON_MS = 3_000;
/** A recall is better answered by words alone than late. Loading the local model takes about one second. */
const QUERY_MS = 3_000;
/** After a failure searches go by words alone for so long, or each of them would wait for the outage. */
const PAUSE_MS = 15_000;

/** A text that every embedder has a vector for. */
const PROBE = "hello";

const SWITCHED =
  "another embedding model is in use than before: everything gets a vector of it in the background, and is found by its words until then";

/** The model in use, as the database knows it. */
export interface ActiveModel {
  readonly id: number;
  readonly dimensions: number;
  readonly floor: number;
  readonly mergeThreshold: number;
}

export interface QueryVector {
  readonly vector: Float32Array;
  readonly model: ActiveModel;
}

export interface MeaningDependencies {
  readonly embedder: Embedder;
  readonly index: VectorIndex;
  readonly models: EmbeddingRepository;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Told, in a sentence that may be logged, what somebody should know; with the error where that is one of ours. */
  readonly onNotice: (notice: string, error?: unknown) => void;
}

/** Search by meaning: one model and one index, which may be away without anything else failing. */
export class Meaning {
  readonly #deps: MeaningDependencies;
  #model: Promise<ActiveModel> | undefined;
  #pausedUntil = 0;
  readonly #told = new Set<string>();

  constructor(deps: MeaningDependencies) {
    this.#deps = deps;
  }

  /**
   * The model in use; the first call loads it, notes it and has everything embedded anew that another model embedded.
   *
   * @throws AppError UNAVAILABLE; a later call tries again
   */
  model(): Promise<ActiveModel> {
    this.#model ??= this.#prepare().catch((error: unknown) => {
      this.#model = undefined;
      throw error;
    });
    return this.#model;
  }

  async #prepare(): Promise<ActiveModel> {
    const { embedder, index, models, transactions, clock } = this.#deps;
    const { fingerprint, dimensions, floor, mergeThreshold } = await embedder.model();
    const model = { fingerprint, dimensions, floor, mergeThreshold, vectorIndex: index.name };
    const { id, isSwitch } = await transactions.system("embedding models", (tx) =>
      models.use(model, clock(), tx),
    );
    if (isSwitch) this.#deps.onNotice(SWITCHED);
    const notice = await index.prepare(dimensions);
    if (notice !== undefined) this.#deps.onNotice(notice);
    return { id, dimensions, floor, mergeThreshold };
  }

  /** For the start: meets now, and tells, what the first search would meet. */
  async check(): Promise<void> {
    try {
      await this.model();
      await this.#deps.embedder.embed([PROBE], "background");
    } catch (error) {
      this.tell(error);
    }
  }

  /** Tells why search by meaning is away, once until it was there again: an outage would repeat itself. */
  tell(error: unknown): void {
    const isOutage = error instanceof AppError || (error as Error).name === "TimeoutError";
    const reason =
      error instanceof AppError ? [error.message, error.hint] : [isOutage && "no answer in time"];
    const notice = ["search by meaning is away", ...reason].filter(Boolean).join(": ");
    if (this.#told.has(notice)) return;
    this.#told.add(notice);
    this.#deps.onNotice(notice, isOutage ? undefined : error);
  }

  /** A search looked for messages that have no vectors: from now on they get them. */
  async wantMessages(scopes: readonly SearchScope[], tx: Tx): Promise<void> {
    const [first] = scopes;
    if (!first) return;
    const without = scopes.filter(({ embedMessages }) => !embedMessages).map(({ id }) => id);
    if (await this.#deps.models.wantMessages(first, without, tx))
      await this.requestVectors(first, tx);
  }

  /** Something waits for a vector since this transaction. */
  async requestVectors({ orgId }: { readonly orgId: string }, tx: Tx): Promise<void> {
    const now = this.#deps.clock();
    const runAt = new Date(now.getTime() + SOON_MS);
    await this.#deps.queue.request({ kind: EMBED_JOB, orgId, runAt }, now, tx);
  }

  /**
   * Never rejects.
   *
   * @returns undefined while the embedder is away, null where it can say nothing of this query; it goes by its words then
   */
  async vectorOf(query: string): Promise<QueryVector | null | undefined> {
    if (this.#isPaused()) return undefined;
    try {
      const signal = AbortSignal.timeout(QUERY_MS);
      const model = await before(signal, this.model());
      const vectors = await this.#deps.embedder.embed(embeddedQuery(query), "query", signal);
      const vector = sumOf(vectors.filter((one) => one !== null));
      return vector ? { vector, model } : null;
    } catch (error) {
      this.#pause(error);
      return undefined;
    }
  }

  /** Never rejects. @returns undefined while the index is away */
  async nearest(
    { vector, model }: QueryVector,
    scopes: readonly SearchScope[],
    limit: number,
  ): Promise<VectorHit[] | undefined> {
    if (scopes.length === 0) return [];
    if (this.#isPaused()) return undefined;
    try {
      const signal = AbortSignal.timeout(QUERY_MS);
      const search = { modelId: model.id, limit, signal };
      const hits = await this.#deps.index.search(scopes, vector, search);
      this.#told.clear();
      return hits;
    } catch (error) {
      this.#pause(error);
      return undefined;
    }
  }

  #isPaused(): boolean {
    return this.#deps.clock().getTime() < this.#pausedUntil;
  }

  /** A fault of ours takes no more from the caller than an outage does. */
  #pause(error: unknown): void {
    this.tell(error);
    this.#pausedUntil = this.#deps.clock().getTime() + PAUSE_MS;
  }
}

/** Of length 1, as an index expects it. */
function sumOf(vectors: readonly Float32Array[]): Float32Array | undefined {
  const [first] = vectors;
  if (!first) return undefined;
  const sum = first.map((_, n) => vectors.reduce((total, vector) => total + (vector[n] ?? 0), 0));
  const length = Math.hypot(...sum);
  return length > 0 ? sum.map((value) => value / length) : undefined;
}

/** The model loads on when nobody waits for it any more. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
