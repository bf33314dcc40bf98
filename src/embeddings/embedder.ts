import { AppError } from "../errors.ts";

/** What vectors are made with. Its thresholds are its own: a cosine of one model says nothing in another. */
export interface EmbeddingModel {
  /** Provider, model, dimensions and the way texts are prepared: vectors of different fingerprints are never compared. */
  readonly fingerprint: string;
  readonly dimensions: number;
  /** Cosines below it say nothing. */
  readonly floor: number;
  /** Values of one key whose cosine reaches it may mean the same. Cosines of contradictions reach it too. */
  readonly mergeThreshold: number;
}

/** Somebody waits for a `query`: it goes before `background` work. */
export type Priority = "query" | "background";

/** Turns texts into vectors. Nothing is retried here: a query goes on without, and the durable queue tries again. */
export interface Embedder {
  readonly name: "local" | "openai";

  /**
   * Loads the model or asks the provider where that has not been done.
   *
   * @throws EmbedderFault; the reason of `signal` where that ended the wait
   */
  model(signal?: AbortSignal): Promise<EmbeddingModel>;

  /**
   * One vector of length 1 for each text, in order; null for a text that this model can say nothing of: one without a
   * letter or a digit, or of a script that it cannot read, or one that the provider refuses or the model dies of.
   *
   * @throws EmbedderFault; the reason of `signal` where that ended the wait
   */
  embed(
    texts: readonly string[],
    priority: Priority,
    signal?: AbortSignal,
  ): Promise<(Float32Array<ArrayBuffer> | null)[]>;

  /** What still waits is refused. Idempotent. */
  close(): Promise<void>;
}

interface FaultOptions extends ErrorOptions {
  readonly hint?: string;
  readonly retryAfterMs?: number | undefined;
  readonly needsOperator?: boolean;
}

/** No vectors for now. Its message holds nothing of the texts, the provider's answer or the key. */
export class EmbedderFault extends AppError {
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Waiting does not help: a setting has to change, which the hint names. */
  readonly needsOperator: boolean;

  constructor(
    message: string,
    { retryAfterMs, needsOperator = false, ...options }: FaultOptions = {},
  ) {
    super("UNAVAILABLE", message, options);
    this.retryAfterMs = retryAfterMs;
    this.needsOperator = needsOperator;
  }
}

export function closedFault(): EmbedderFault {
  return new EmbedderFault("The embedder is closed.");
}
