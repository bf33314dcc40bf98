/** What a model is asked: fixed instructions, and data that it must not take for instructions. */
export interface ExtractionPrompt {
  readonly instructions: string;
  readonly data: string;
  /** JSON Schema of the answer. Providers hold a model to its shape only, never to its limits. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** What a turn's columns hold. A provider may send any number. */
export const MAX_TOKENS = 2 ** 31 - 1;

export interface ExtractionAnswer {
  /** The model's text as it came; empty where it gave none. */
  readonly text: string;
  /** The provider's own word; `refusal`, `max_tokens` and the like are read by name. */
  readonly stopReason: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Turns a prompt into text. One call, no retries: the durable queue retries, and it survives a restart. */
export interface Extractor {
  readonly model: string;
  /** @throws ExtractorFault; an `AbortError` where `signal` ended the call */
  extract(prompt: ExtractionPrompt, signal: AbortSignal): Promise<ExtractionAnswer>;
}

/** Why an extraction gave nothing. The provider's faults are the same for every turn; the others are one turn's. */
const PROVIDER_FAULTS = [
  "rate-limited",
  "overloaded",
  "unavailable",
  "timeout",
  "misconfigured",
] as const;
const TURN_FAULTS = ["refused", "truncated", "unreadable", "rejected"] as const;
export type ExtractionFault = (typeof PROVIDER_FAULTS)[number] | (typeof TURN_FAULTS)[number];

/** An extraction that failed in a known way. Its message holds nothing of the turn, the answer or the key. */
export class ExtractorFault extends Error {
  override readonly name = "ExtractorFault";
  /** Shown in the run log. */
  readonly code: ExtractionFault;
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ExtractionFault, options: { retryAfterMs?: number | undefined } = {}) {
    super(`extraction failed: ${code}`);
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Every other turn would meet it too: nothing was read, nothing is billed. */
  get isOfProvider(): boolean {
    return PROVIDER_FAULTS.some((code) => code === this.code);
  }
}
