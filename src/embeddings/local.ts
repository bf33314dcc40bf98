import {
  closedFault,
  type Embedder,
  EmbedderFault,
  type EmbeddingModel,
  type Priority,
} from "./embedder.ts";
import { LocalEngine } from "./local-engine.ts";
import { headOf, isMostlyLatin } from "./text.ts";

/** The model reads 256 tokens, some 1,200 bytes of English; what comes after costs the tokenizer time and is not read. */
const MAX_BYTES = 4_000;

/** `v1` stands for the way that texts are prepared here: change it with that, and everything is embedded again. */
const MODEL: EmbeddingModel = {
  fingerprint: "local/all-MiniLM-L6-v2/fp16/384/mean/v1",
  dimensions: 384,
  // Of facts that answer a question 95 of 100 reach .44; so do some that do not, which rank has to tell apart.
  floor: 0.3,
  // With the guard of facts; alone no cosine is right. `npm run bench -- duplicates` shows the curve, flat below .85.
  mergeThreshold: 0.7,
};

interface Piece {
  readonly text: string;
  readonly resolve: (vector: Float32Array<ArrayBuffer> | null) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * all-MiniLM-L6-v2 as it comes with the install: nothing leaves the machine. It knows English; it reads the first 256
 * tokens of a text and gives texts in other scripts than Latin no vector, as those come out alike whatever they say.
 *
 * One text is with the worker at a time, and texts of queries go first: a query waits for one text at most, which takes
 * 25 ms of CPU where it is short and 500 where it is long. While queries come without a pause, background work waits.
 */
export class LocalEmbedder implements Embedder {
  readonly name = "local";
  readonly #engine: LocalEngine;
  readonly #waiting: Record<Priority, Piece[]> = { query: [], background: [] };
  #isBusy = false;
  #isClosed = false;

  constructor(engine = new LocalEngine()) {
    this.#engine = engine;
  }

  async model(signal?: AbortSignal): Promise<EmbeddingModel> {
    signal?.throwIfAborted();
    await this.#untilAborted(this.#engine.start(), signal);
    return MODEL;
  }

  async embed(
    texts: readonly string[],
    priority: Priority,
    signal?: AbortSignal,
  ): Promise<(Float32Array<ArrayBuffer> | null)[]> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedFault();
    const pieces: Piece[] = [];
    const vectors = texts.map((text) => {
      const head = headOf(text, MAX_BYTES);
      if (head === undefined || !isMostlyLatin(head)) return Promise.resolve(null);
      const { promise, resolve, reject } =
        Promise.withResolvers<Float32Array<ArrayBuffer> | null>();
      pieces.push({ text: head, resolve, reject });
      return promise;
    });
    this.#waiting[priority].push(...pieces);
    void this.#work();
    try {
      return await this.#untilAborted(Promise.all(vectors), signal);
    } catch (error) {
      // Nobody waits for the others any more.
      const left = new Set(pieces);
      this.#waiting[priority] = this.#waiting[priority].filter((piece) => !left.has(piece));
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#engine.close();
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let piece = this.#next(); piece; piece = this.#next()) {
      try {
        piece.resolve(await this.#engine.run(piece.text));
      } catch (error) {
        piece.reject(error);
        // The others of the queue would meet it too, each after its own attempt to load the model.
        if (error instanceof EmbedderFault && error.needsOperator) this.#refuseWaiting(error);
      }
    }
    this.#isBusy = false;
  }

  #next(): Piece | undefined {
    return this.#waiting.query.shift() ?? this.#waiting.background.shift();
  }

  #refuseWaiting(error: EmbedderFault): void {
    for (let piece = this.#next(); piece; piece = this.#next()) piece.reject(error);
  }

  async #untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (signal === undefined) return work;
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([work, promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
