import type { Anthropic, APIError } from "@anthropic-ai/sdk";
import {
  type ExtractionAnswer,
  type ExtractionFault,
  type ExtractionPrompt,
  type Extractor,
  ExtractorFault,
  MAX_TOKENS,
} from "./extractor.ts";

/** Five facts take some 500 tokens; what goes past this runs in circles, and is paid for. */
const MAX_ANSWER_TOKENS = 2_048;
const TIMEOUT_MS = 60_000;
/** Of what the SDK would send these go out: the rest tells about this machine, or comes from variables of the environment. */
const HEADERS = ["accept", "content-type", "anthropic-version", "user-agent"];

interface AnthropicOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly model: string;
  /** Milliseconds for one call; default a minute. */
  readonly timeoutMs?: number;
}

/**
 * Claude by its Messages API, or a server that speaks it. Stop reasons that matter: `refusal`, `max_tokens` and
 * `model_context_window_exceeded` (cut short), `end_turn` (whole).
 */
class AnthropicExtractor implements Extractor {
  readonly model: string;
  readonly #client: Anthropic;

  constructor(client: Anthropic, model: string) {
    this.#client = client;
    this.model = model;
  }

  async extract(prompt: ExtractionPrompt, signal: AbortSignal): Promise<ExtractionAnswer> {
    try {
      // create() rather than parse(): that one throws the usage away with an answer it cannot read.
      const message = await this.#client.messages.create(
        {
          model: this.model,
          max_tokens: MAX_ANSWER_TOKENS,
          // On by default, it would count against max_tokens and the bill.
          thinking: { type: "disabled" },
          system: prompt.instructions,
          messages: [{ role: "user", content: prompt.data }],
          output_config: { format: { type: "json_schema", schema: { ...prompt.schema } } },
        },
        { signal },
      );
      // A server that is no Messages API may answer 200 with anything.
      const blocks = Array.isArray(message.content) ? message.content : [];
      const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
      return {
        text: texts.join(""),
        stopReason: message.stop_reason ?? "unknown",
        inputTokens: tokens(message.usage?.input_tokens),
        outputTokens: tokens(message.usage?.output_tokens),
      };
    } catch (error) {
      signal.throwIfAborted();
      throw faultOf(error);
    }
  }
}

/**
 * Loads the SDK only where there is a key: without one it would look for other credentials on this machine.
 *
 * @returns undefined without a key
 */
export async function anthropicExtractor(
  options: AnthropicOptions,
): Promise<Extractor | undefined> {
  const { apiKey, baseUrl, model, timeoutMs = TIMEOUT_MS } = options;
  if (apiKey === undefined) return undefined;
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    apiKey,
    authToken: null,
    webhookKey: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    fetch: (url, init) => fetch(url, { ...init, headers: headersOf(init?.headers, apiKey) }),
  });
  return new AnthropicExtractor(client, model);
}

/** ANTHROPIC_CUSTOM_HEADERS, which the SDK reads by itself, could put another credential in place of ours. */
function headersOf(given: RequestInit["headers"], apiKey: string): Headers {
  const sent = new Headers();
  for (const [name, value] of new Headers(given)) if (HEADERS.includes(name)) sent.set(name, value);
  sent.set("authorization", `Bearer ${apiKey}`);
  return sent;
}

function tokens(count: unknown): number {
  if (typeof count !== "number" || !(count > 0)) return 0;
  return Math.min(Math.trunc(count), MAX_TOKENS);
}

function faultOf(error: unknown): ExtractorFault {
  const { name = "", message = "" } = error instanceof Error ? error : {};
  if (name === "APIConnectionTimeoutError") return new ExtractorFault("timeout");
  const { status, headers } = error as Partial<APIError>;
  // No status: no connection, or a body that is no JSON.
  if (status === undefined) {
    return new ExtractorFault(error instanceof SyntaxError ? "unreadable" : "unavailable");
  }
  return new ExtractorFault(faultOfStatus(status, message), {
    retryAfterMs: retryAfterOf(headers?.get("retry-after")),
  });
}

function faultOfStatus(status: number, message: string): ExtractionFault {
  if (status === 429) return "rate-limited";
  if (status === 529) return "overloaded";
  if (status === 408 || status === 504) return "timeout";
  if (status === 409 || status >= 500) return "unavailable";
  // Something that this one request holds: other turns may pass. An account without credit answers 400 to all.
  if ([400, 413, 422].includes(status) && !/credit|billing/i.test(message)) return "rejected";
  // A key that is refused, no credit, an unknown model, a request that this provider does not take.
  return "misconfigured";
}

/** Seconds, as the provider writes it; a date would need its clock and ours to agree. */
function retryAfterOf(header: string | null | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return seconds > 0 && seconds <= 86_400 ? seconds * 1_000 : undefined;
}
