import { Index } from "@upstash/vector";
import { AppError } from "../errors.ts";

/** For one request and what is tried again of it: a recall waits for it. */
const TIMEOUT_MS = 4_000;
/** Of requests that found no server. What a server answered, a refusal included, is not sent again. */
const RETRIES = 2;

export interface UpstashOptions {
  readonly url: string;
  readonly token: string;
  /** Milliseconds; default four seconds. */
  readonly timeoutMs?: number;
}

/** Whatever a vector index elsewhere can fail by, as one fault; nothing of what it said leaves this file. */
export class UpstashClient {
  readonly #options: UpstashOptions;

  constructor(options: UpstashOptions) {
    this.#options = options;
  }

  /** @throws AppError UNAVAILABLE; what `signal` was aborted with, when it was */
  async use<T>(work: (index: Index) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await work(this.#index(signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RangeError) throw error;
      throw outageOf(error);
    }
  }

  /** An object without a connection; one a call, because a signal is given to it and not to its methods. */
  #index(signal: AbortSignal | undefined): Index {
    const { url, token, timeoutMs = TIMEOUT_MS } = this.#options;
    return new Index({
      url,
      token,
      enableTelemetry: false,
      retry: { retries: RETRIES, backoff: (attempt) => 100 * 3 ** attempt },
      // A function: the client takes an aborted signal that is no function for a success.
      signal: () => {
        const limit = AbortSignal.timeout(timeoutMs);
        return signal ? AbortSignal.any([limit, signal]) : limit;
      },
    });
  }
}

/** Without the error itself: its text is the provider's. */
function outageOf(error: unknown): AppError {
  return new AppError("UNAVAILABLE", "the vector index cannot be used right now", {
    hint: "Text search goes on without it.",
    cause: new Error(reasonOf(error)),
  });
}

function reasonOf(error: unknown): string {
  const name = error instanceof Error ? error.name : "";
  if (name === "UpstashError") return "the vector index refused a request";
  if (name === "SyntaxError") return "the vector index answered what is no JSON";
  if (name === "TimeoutError") return "the vector index did not answer in time";
  return "the vector index was not reached";
}
