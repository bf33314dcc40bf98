import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { type Embedder, EmbedderFault } from "../embeddings/embedder.ts";
import { AppError } from "../errors.ts";
import { textOfValue } from "../facts/search-text.ts";
import type { Counts, JobHandler } from "../jobs/handler.ts";
import { RetryLater } from "../jobs/retry-later.ts";
import type { VectorIndex, VectorScope } from "../vectors/index.ts";
import { embeddedFact, embeddedMessage } from "./embedded-text.ts";
import type { EmbeddingRepository, Unembedded } from "./embedding-repository.ts";
import { type ActiveModel, EMBED_JOB, type Meaning } from "./meaning.ts";

/** Documents embedded between two notes of it: what a kill costs, about a second of the local model. */
const BATCH = 32;
/** Batches of one scope before the next one has its turn. */
const BATCHES = 4;
const SCOPES = 100;
/** How long an outage of the provider or the index is waited out where it did not say. */
const RETRY_MS = 60_000;

interface EmbeddingDependencies {
  readonly meaning: Meaning;
  readonly embedder: Embedder;
  readonly index: VectorIndex;
  readonly models: EmbeddingRepository;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly metrics: { waitingForVectors(documents: number): void };
  /** Told of claims that have a vector now, before this is noted: it hears of none too seldom. */
  readonly onEmbedded: (
    scope: VectorScope,
    embedded: readonly { readonly id: string; readonly vector: Float32Array }[],
    model: ActiveModel,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** Gives vectors to what waits for one: new claims, messages that a search missed, everything after a switch of the model. */
export class Embedding {
  readonly #deps: EmbeddingDependencies;
  /** Until then the provider asked to be left alone, whichever org's job comes. */
  #notBefore = 0;

  constructor(deps: EmbeddingDependencies) {
    this.#deps = deps;
  }

  /**
   * Goes through every scope that has something waiting, of all orgs. What was embedded stays when it is interrupted.
   *
   * @throws RetryLater while the provider or the index is away: that is an outage, not a failed attempt
   */
  async run(signal: AbortSignal): Promise<Counts> {
    try {
      return await this.#run(signal);
    } catch (error) {
      throw this.#waited(error);
    }
  }

  async #run(signal: AbortSignal): Promise<Counts> {
    const { meaning, clock } = this.#deps;
    await this.#tellWaiting();
    if (clock().getTime() < this.#notBefore) throw retryAt(this.#notBefore);
    const model = await meaning.model();
    const embedded = await this.#embedDue(model, signal);
    const removed = await this.#retire(model, signal);
    await this.#tellWaiting();
    return { embedded, removed };
  }

  /** An outage is waited for, however long it lasts; anything else is a failed attempt. */
  #waited(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code !== "UNAVAILABLE") return error;
    this.#deps.meaning.tell(error);
    const asked = error instanceof EmbedderFault ? error.retryAfterMs : undefined;
    const now = this.#deps.clock().getTime();
    if (asked !== undefined) this.#notBefore = now + asked;
    return retryAt(now + (asked ?? RETRY_MS), error);
  }

  async #tellWaiting(): Promise<void> {
    const { models, transactions, metrics } = this.#deps;
    const waiting = await transactions.system("embedding models", (tx) => models.waiting(tx));
    metrics.waitingForVectors(waiting);
  }

  /** In rounds, so that a person with a hundred thousand messages does not keep others waiting. */
  async #embedDue(model: ActiveModel, signal: AbortSignal): Promise<number> {
    const { models, transactions } = this.#deps;
    let embedded = 0;
    let left = false;
    for (let after = 0; ; ) {
      const scopes = await transactions.system("embedding models", async (tx) =>
        (await models.isInUse(model.id, tx)) ? models.due(after, SCOPES, tx) : [],
      );
      for (const scope of scopes) {
        const { count, settled } = await this.#embedSome(scope, model, signal);
        embedded += count;
        left ||= !settled;
      }
      const last = scopes.at(-1);
      if (last) after = last.id;
      else if (left) {
        after = 0;
        left = false;
      } else return embedded;
    }
  }

  async #embedSome(scope: VectorScope, model: ActiveModel, signal: AbortSignal) {
    const { models, transactions } = this.#deps;
    let count = 0;
    for (let batch = 0; batch < BATCHES; batch++) {
      signal.throwIfAborted();
      const documents = await transactions.tenant(scope, (tx) =>
        models.batch(scope, model.id, BATCH, tx),
      );
      if (documents.length > 0) await this.#embedBatch(scope, model, documents, signal);
      count += documents.length;
      if (documents.length < BATCH) break;
    }
    const settled = await transactions.tenant(scope, (tx) => models.settle(scope, model.id, tx));
    return { count, settled };
  }

  /** Vectors first, then the note: a kill in between has them made again, never missed. */
  async #embedBatch(
    scope: VectorScope,
    model: ActiveModel,
    documents: readonly Unembedded[],
    signal: AbortSignal,
  ): Promise<void> {
    const { embedder, index, models, transactions, onEmbedded } = this.#deps;
    const vectors = await embedder.embed(documents.map(textOf), "background", signal);
    const items = documents.map(({ id }, n) => ({ documentId: id, parts: partsOf(vectors[n]) }));
    await index.store(
      scope,
      items.filter(({ parts }) => parts.length > 0),
      model.id,
    );
    const embedded = documents.flatMap(({ id }, n) => {
      const vector = vectors[n];
      return vector ? [{ id, vector }] : [];
    });
    if (scope.kind !== "message") await onEmbedded(scope, embedded, model, signal);
    await transactions.tenant(scope, (tx) => models.note(scope, model.id, documents, tx));
  }

  /** The vectors of models before are of no use once everything has new ones. */
  async #retire(model: ActiveModel, signal: AbortSignal): Promise<number> {
    const { index, models, transactions } = this.#deps;
    const retired = await transactions.system("embedding models", async (tx) => {
      await models.finish(model.id, tx);
      return models.retired(tx);
    });
    let removed = 0;
    for (const modelId of retired) {
      removed += await index.forget(modelId, signal);
      await transactions.system("embedding models", (tx) => models.remove(modelId, tx));
    }
    return removed;
  }
}

function retryAt(at: number, cause?: unknown): RetryLater {
  return new RetryLater({ at: new Date(at), countsAsAttempt: false, cause });
}

function partsOf(vector: Float32Array | null | undefined): Float32Array[] {
  return vector ? [vector] : [];
}

function textOf(document: Unembedded): string {
  return "key" in document
    ? embeddedFact(document.key, textOfValue(document.value))
    : embeddedMessage(document.text, document.before);
}

/** Soon after a claim is written the job is queued; the cron slot finds what an outage or a kill left. */
export function embedJob(embedding: Embedding): JobHandler {
  return {
    kind: EMBED_JOB,
    cron: "*/10 * * * *",
    exclusive: true,
    run: (_job, { signal }) => embedding.run(signal),
  };
}
