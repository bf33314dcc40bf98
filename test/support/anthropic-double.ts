import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the provider does with one request. */
export type Behaviour =
  | {
      readonly facts: readonly unknown[];
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    }
  | {
      readonly text: string | null;
      readonly stopReason?: string;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Sent instead of the provider's own error body, as proxies do. */
      readonly body?: string;
    }
  /** Takes the request and never answers. */
  | { readonly hangs: true }
  /** Hangs up in the middle. */
  | { readonly drops: true };

interface SentMessage {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly output_config: { readonly format: { readonly schema: unknown } };
  readonly max_tokens: number;
  readonly thinking: unknown;
}

export interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: SentMessage;
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};
/** Parameters that this version of the API refuses. */
const GONE = ["temperature", "top_p", "top_k"];
/** Limits that structured outputs do not take. */
const NOT_IN_SCHEMAS = /"(?:minLength|maxLength|pattern|minimum|maximum|maxItems|multipleOf)":/;

/**
 * `POST /v1/messages` on loopback, by the wire format of October 2026: it refuses what the real one refuses, and answers
 * what it is told to, or no facts.
 */
export class AnthropicDouble {
  readonly received: Received[] = [];
  readonly key = "sk-ant-key-of-the-tests";
  /** Answers every request that `next` does not. */
  behaviour: Behaviour | ((sent: Received) => Behaviour) = { facts: [] };
  /** Answers go out when this is done: what happens while the provider thinks. */
  delayed: (() => Promise<unknown>) | undefined;
  readonly #next: Behaviour[] = [];
  readonly #server = createServer((request, response) => {
    void this.#take(request, response);
  });

  static async start(): Promise<AnthropicDouble> {
    const double = new AnthropicDouble();
    double.#server.listen(0, "127.0.0.1");
    await once(double.#server, "listening");
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The variables that make a server ask here. */
  get env(): Record<string, string> {
    return { ANTHROPIC_API_KEY: this.key, ANTHROPIC_BASE_URL: this.url };
  }

  /** The next requests get these answers, one each. */
  next(...behaviours: readonly Behaviour[]): void {
    this.#next.push(...behaviours);
  }

  reset(): void {
    this.received.length = 0;
    this.#next.length = 0;
    this.behaviour = { facts: [] };
    this.delayed = undefined;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const refusal = this.#refusalOf(request, text);
    if (refusal) return refuse(response, ...refusal);
    const received = { headers: request.headers, body: JSON.parse(text) as SentMessage };
    this.received.push(received);
    const { behaviour } = this;
    const now =
      this.#next.shift() ?? (typeof behaviour === "function" ? behaviour(received) : behaviour);
    if ("hangs" in now) return;
    await this.delayed?.();
    if ("drops" in now) {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
      response.write('{"id":"msg_');
      setImmediate(() => request.socket.destroy());
    } else if ("status" in now) {
      refuse(response, now.status, "an error of the test", now);
    } else {
      json(response, 200, messageOf(received.body.model, now));
    }
  }

  #refusalOf(
    request: IncomingMessage,
    text: string,
  ): [status: number, message: string] | undefined {
    const { headers, method, url } = request;
    if (method !== "POST" || url !== "/v1/messages") return [404, "not found"];
    if (headers.authorization !== `Bearer ${this.key}`) return [401, "invalid credentials"];
    if (headers["anthropic-version"] !== "2026-10-21") return [400, "anthropic-version"];
    if (headers["content-type"] !== "application/json") return [400, "content-type"];
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const missing = ["model", "max_tokens", "messages"].find((name) => body[name] === undefined);
    if (missing) return [400, `${missing}: field required`];
    const gone = GONE.find((name) => name in body);
    if (gone) return [400, `${gone}: not supported`];
    const messages = body.messages as SentMessage["messages"];
    if (messages.at(-1)?.role !== "user") return [400, "prefill is not supported"];
    if (messages.some(({ content }) => content === "")) return [400, "text must not be empty"];
    const schema = JSON.stringify(body.output_config);
    if (NOT_IN_SCHEMAS.test(schema)) return [400, "schema: unsupported keyword"];
    const isOpen = /"type":"object"(?!,"additionalProperties":false)/.test(schema);
    return isOpen ? [400, "schema: additionalProperties must be false"] : undefined;
  }
}

function messageOf(
  model: string,
  answer: Extract<Behaviour, { facts: unknown } | { text: unknown }>,
) {
  const text = "facts" in answer ? JSON.stringify({ facts: answer.facts }) : answer.text;
  const stopReason = "facts" in answer ? "end_turn" : (answer.stopReason ?? "end_turn");
  const { inputTokens = 700, outputTokens = 60 } = answer;
  return {
    id: "msg_01Test",
    type: "message",
    role: "assistant",
    model,
    container: null,
    content: text === null ? [] : [{ type: "text", text, citations: null }],
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      server_tool_use: null,
      service_tier: "standard",
    },
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body !== undefined) {
    response.writeHead(status, { "content-type": "text/html" }).end(body);
    return;
  }
  const error = { type: ERROR_TYPES[status] ?? "api_error", message };
  json(response, status, { type: "error", error, request_id: "req_01Test" });
}

function json(response: ServerResponse, status: number, body: object): void {
  response.setHeader("request-id", "req_01Test");
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
