import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the provider does with one request that it would take. */
type Behaviour =
  | { readonly status: number; readonly code?: string; readonly headers?: Record<string, string> }
  /** Sent with status 200 in place of vectors. */
  | { readonly body: string }
  /** What becomes of the right entries. */
  | { readonly entries: (entries: readonly Entry[]) => readonly unknown[] }
  /** Takes the request and never answers; or stops in the middle of its answer. */
  | { readonly hangs: "before" | "within" };

export interface Entry {
  readonly object: "embedding";
  readonly index: number;
  readonly embedding: readonly number[] | string;
}

interface SentEmbedding {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format?: string;
}

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: SentEmbedding;
}

const MAX_INPUTS = 2_048;
const MAX_TOKENS = 8_192;
const MAX_REQUEST_TOKENS = 300_000;

/**
 * `POST /v1/embeddings` on loopback: it refuses what OpenAI's refuses, and gives every text a vector of length 2 that
 * depends on the text alone, so that what is not brought to length 1 shows.
 */
export class OpenAiDouble {
  readonly received: Received[] = [];
  readonly key = "sk-openai-key-of-the-tests";
  /** Model names and the sizes of their vectors. */
  models: Readonly<Record<string, number>> = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "nomic-embed-text": 8,
  };
  /** false = as servers of one's own: whoever asks is answered. */
  wantsKey = true;
  /** false = as servers that overlook the parameter. */
  heedsDimensions = true;
  /** The longest text in tokens, a token being four bytes. */
  maxTokens = MAX_TOKENS;
  /** Texts with this word in them are refused. */
  refusedWord: string | undefined;
  /** What becomes of every request that `next` says nothing of. */
  trouble: Behaviour | undefined;
  readonly #next: Behaviour[] = [];
  readonly #server = createServer((request, response) => {
    void this.#take(request, response);
  });

  static async start(): Promise<OpenAiDouble> {
    const double = new OpenAiDouble();
    double.#server.listen(0, "127.0.0.1");
    await once(double.#server, "listening");
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The variables that make a server ask here. */
  get env(): Record<string, string> {
    return { EMBEDDER: "openai", OPENAI_API_KEY: this.key, OPENAI_BASE_URL: this.url };
  }

  /** The next requests get these answers, one each. */
  next(...behaviours: readonly Behaviour[]): void {
    this.#next.push(...behaviours);
  }

  reset(): void {
    const { models, wantsKey, heedsDimensions, maxTokens, refusedWord } = new OpenAiDouble();
    Object.assign(this, { models, wantsKey, heedsDimensions, maxTokens, refusedWord });
    this.trouble = undefined;
    this.received.length = 0;
    this.#next.length = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    if (request.method !== "POST" || request.url !== "/v1/embeddings") return refuse(response, 404);
    if (this.wantsKey && request.headers.authorization !== `Bearer ${this.key}`) {
      return refuse(response, 401, "invalid_api_key");
    }
    const body = JSON.parse(text) as SentEmbedding;
    this.received.push({ headers: request.headers, body });
    const now = this.#next.shift() ?? this.trouble;
    if (now && "status" in now) return refuse(response, now.status, now.code, now.headers);
    if (now && "hangs" in now) {
      if (now.hangs === "within") response.writeHead(200, JSON_TYPE).write('{"object":"list","da');
      return;
    }
    if (now && "body" in now) {
      response.writeHead(200, JSON_TYPE).end(now.body);
      return;
    }
    const size = this.models[body.model];
    if (size === undefined) return refuse(response, 404, "model_not_found");
    if (this.#isRefused(body, size)) return refuse(response, 400, "invalid_request_error");
    const dimensions = this.heedsDimensions ? (body.dimensions ?? size) : size;
    const entries = body.input.map((input, index) => ({
      object: "embedding" as const,
      index,
      embedding: encoded(vectorOf(input, dimensions), body.encoding_format),
    }));
    const data = now ? now.entries(entries) : entries;
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ object: "list", data, model: "m" }));
  }

  #isRefused({ input, dimensions, model }: SentEmbedding, size: number): boolean {
    const tokens = input.map((text) => Math.ceil(Buffer.byteLength(text) / 4));
    const { refusedWord } = this;
    return (
      input.length === 0 ||
      input.length > MAX_INPUTS ||
      input.some((text) => text === "" || (refusedWord && text.includes(refusedWord))) ||
      tokens.some((count) => count > this.maxTokens) ||
      tokens.reduce((sum, count) => sum + count, 0) > MAX_REQUEST_TOKENS ||
      (this.heedsDimensions &&
        dimensions !== undefined &&
        (!model.startsWith("text-embedding-3") || dimensions > size))
    );
  }
}

const JSON_TYPE = { "content-type": "application/json" };

/** The double's vector of a text, of length 2. */
function vectorOf(text: string, dimensions: number): number[] {
  const bytes = createHash("shake256", { outputLength: dimensions }).update(text).digest();
  const raw = [...bytes].map((byte) => byte - 127.5);
  const norm = Math.hypot(...raw);
  return raw.map((x) => (2 * x) / norm);
}

function encoded(vector: readonly number[], format = "base64"): readonly number[] | string {
  if (format === "float") return vector;
  return Buffer.from(Float32Array.from(vector).buffer).toString("base64");
}

/** With the text of the request's own in the message, as providers do: it must not get out. */
function refuse(
  response: ServerResponse,
  status: number,
  code: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): void {
  const error = { message: "provider says: quokka", type: "error", param: null, code };
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify({ error }));
}
