import type { OpenAI } from "openai";
import { closedFault, EmbedderFault } from "./embedder.ts";
import { vectorsOf } from "./openai-answer.ts";
import { faultOf, isRejection } from "./openai-fault.ts";

const TIMEOUT_MS = 15_000;
/** Of what the SDK would send these go out: the rest tells about this machine, or comes from variables of the environment. */
const HEADERS = ["accept", "content-type", "user-agent"];

export interface EndpointOptions {
  /** Unset: the server asks for none. */
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly model: string;
  /** Sent only where it is set: most models have one size, and many servers refuse the parameter or ignore it. */
  readonly dimensions: number | undefined;
  /** Milliseconds for one request, its answer included; default 15 seconds. */
  readonly timeoutMs?: number;
}

/** `POST /embeddings`, one request at a time and none twice. */
export class EmbeddingsEndpoint {
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #dimensions: number | undefined;
  readonly #closing = new AbortController();

  constructor(client: OpenAI, { model, dimensions }: EndpointOptions) {
    this.#client = client;
    this.#model = model;
    this.#dimensions = dimensions;
  }

  /**
   * One vector for each text, none of which may be empty.
   *
   * @param dimensions what a vector has to have; undefined takes what comes
   * @returns undefined where the provider takes the request for a wrong one: a text may be at fault, or the settings
   * @throws EmbedderFault; the reason of `signal` where that ended it
   */
  async request(
    texts: readonly string[],
    dimensions: number | undefined,
    signal?: AbortSignal,
  ): Promise<Float32Array<ArrayBuffer>[] | undefined> {
    const ends = [this.#closing.signal, ...(signal ? [signal] : [])];
    try {
      const answer = await this.#client.embeddings.create(
        {
          model: this.#model,
          input: [...texts],
          // Not asked for, the SDK asks for base64 and decodes whatever comes as that.
          encoding_format: "float",
          ...(this.#dimensions === undefined ? {} : { dimensions: this.#dimensions }),
        },
        { signal: AbortSignal.any(ends) },
      );
      return vectorsOf(answer, texts.length, dimensions);
    } catch (error) {
      signal?.throwIfAborted();
      if (this.#closing.signal.aborted) throw closedFault();
      if (error instanceof EmbedderFault) throw error;
      if (isRejection(error)) return undefined;
      throw faultOf(error);
    }
  }

  close(): void {
    this.#closing.abort();
  }
}

/** Loads the SDK, which takes a third of a second, only where it is used. */
export async function openEndpoint(options: EndpointOptions): Promise<EmbeddingsEndpoint> {
  const { OpenAI } = await import("openai");
  const client = new OpenAI({
    // The SDK insists on one, and would take OPENAI_API_KEY; it is not sent.
    apiKey: options.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    maxRetries: 0,
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    logLevel: "off",
    fetch: (url, init) => fetch(url, { ...init, headers: headersOf(init?.headers, options) }),
  });
  return new EmbeddingsEndpoint(client, options);
}

/** OPENAI_CUSTOM_HEADERS, which the SDK reads by itself, could put another credential in place of ours. */
function headersOf(given: RequestInit["headers"], { apiKey }: EndpointOptions): Headers {
  const sent = new Headers();
  for (const [name, value] of new Headers(given)) if (HEADERS.includes(name)) sent.set(name, value);
  if (apiKey !== undefined) sent.set("authorization", `Bearer ${apiKey}`);
  return sent;
}
