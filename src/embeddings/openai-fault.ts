import type { APIError } from "openai";
import { EmbedderFault } from "./embedder.ts";

/** The provider took the request for a wrong one: a text of it may be at fault, or the settings. */
export function isRejection(error: unknown): boolean {
  const { status, code } = error as Partial<APIError>;
  return [400, 413, 422].includes(status ?? 0) && code !== "model_not_found";
}

/** What to do about a failed call, in our own words: those of a provider may repeat a text or a key. */
export function faultOf(error: unknown): EmbedderFault {
  const { status, code, headers } = error as Partial<APIError>;
  if (status === 401 || status === 403) {
    return settingsFault(
      "The embedding provider refuses the key.",
      "Set OPENAI_API_KEY to a valid key of the provider that OPENAI_BASE_URL names.",
    );
  }
  if (status === 404 || code === "model_not_found") {
    return settingsFault(
      "The embedding provider does not know the model or the address.",
      "Check EMBEDDING_MODEL and OPENAI_BASE_URL; the address mostly ends in /v1.",
    );
  }
  if (status === 402 || code === "insufficient_quota") {
    return settingsFault(
      "The embedding provider's account has no credit.",
      "Add credit to the account of OPENAI_API_KEY.",
    );
  }
  if (status === 429) {
    const retryAfterMs = retryAfterOf(headers?.get("retry-after"));
    return new EmbedderFault("The embedding provider asks for fewer requests.", { retryAfterMs });
  }
  return new EmbedderFault("The embedding provider cannot be reached or is out of order.");
}

/** The provider refuses every text, or nothing can be done with its answers. */
export function settingsFault(message: string, hint: string): EmbedderFault {
  return new EmbedderFault(message, { hint, needsOperator: true });
}

/** Seconds, as providers write it; a date would need their clock and ours to agree. */
function retryAfterOf(header: string | null | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return seconds > 0 && seconds <= 86_400 ? seconds * 1_000 : undefined;
}
