import {
  classifyInboundRequest,
  createMcpHandler,
  type InboundLadderRejection,
  isJSONRPCRequest,
  type JSONRPCRequest,
  type McpHttpHandler,
  PerRequestHTTPServerTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { Principal } from "../access/principal.ts";
import { authInfoOf } from "./caller.ts";
import type { Body, Incoming } from "./json.ts";
import { problemOfParams, sentArguments, withArguments } from "./params.ts";
import {
  HTTP_FAULT,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idOf,
  isObject,
  type RpcError,
  rpcError,
} from "./rpc.ts";
import type { ServerFactory } from "./server.ts";

/** What to send back: nothing, one JSON text, or the event stream that a handler opened by a notification. */
export interface Answer {
  readonly status: number;
  readonly body?: string | ReadableStream<Uint8Array>;
}

/** What the messages of one POST have in common. */
export interface Call {
  readonly principal: Principal;
  /** The `mcp-*` headers of the request; nothing else of it reaches the SDK. */
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/**
 * Serves parsed bodies through the SDK: revision 2026-07-28 by its handler, each message of an older revision
 * by a server of its own on the same kind of transport. So both eras answer in plain JSON, stream only when a
 * handler notifies, and hold no session that could be mixed up or leak. `notifications/cancelled` of a caller
 * cannot be told from another's with the same id and is ignored: closing the connection is what cancels.
 */
export class Exchange {
  readonly #servers: ServerFactory;
  readonly #modern: McpHttpHandler;

  constructor(servers: ServerFactory) {
    this.#servers = servers;
    this.#modern = createMcpHandler((context) => servers.build(context), { legacy: "reject" });
  }

  async answer(body: Body, call: Call): Promise<Answer> {
    const [first] = body.messages;
    const content = body.batch ? body.messages.map(({ message }) => message) : first?.message;
    const route = classifyInboundRequest({
      httpMethod: "POST",
      ...headersForClassification(call.headers, content),
      body: content,
    });
    if (route.kind === "reject") return rejection(route, content);
    // Only single messages are of the new revision: it has no batches.
    if (route.kind === "modern") return this.#serveModern(first as Incoming, call);
    // There is nothing to notify or to answer in an exchange without a session.
    if (route.reason === "notification" || route.reason === "response") return { status: 202 };
    if (route.reason !== "initialize") {
      const version = call.headers.get("mcp-protocol-version");
      if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
        return json(400, rpcError(HTTP_FAULT, unsupported(version), idOf(content)));
      }
    }
    return body.batch
      ? this.#serveBatch(body.messages, call)
      : this.#serveLegacy(first as Incoming, call);
  }

  async #serveModern(incoming: Incoming, call: Call): Promise<Answer> {
    const message = withArguments(incoming);
    const problem = problemOfParams(message, "modern");
    if (problem !== undefined) return json(200, rpcError(INVALID_PARAMS, problem, idOf(message)));
    const response = await this.#modern.fetch(webRequest(call), {
      parsedBody: message,
      authInfo: authInfo(call, incoming),
    });
    // The handler's word for an exchange that was aborted.
    if (response.status === 499) call.signal.throwIfAborted();
    return answerOf(response, response.status);
  }

  async #serveLegacy(incoming: Incoming, call: Call, streams = true): Promise<Answer> {
    const message = withArguments(incoming) as JSONRPCRequest;
    const problem = problemOfParams(message, "legacy");
    if (problem !== undefined) return json(200, rpcError(INVALID_PARAMS, problem, message.id));
    const carrier = authInfo(call, incoming);
    const transport = new PerRequestHTTPServerTransport({
      classification: { era: "legacy" },
      responseMode: streams ? "auto" : "json",
    });
    await this.#servers.build({ authInfo: carrier }).connect(transport);
    const response = await transport.handleMessage(message, {
      authInfo: carrier,
      request: webRequest(call),
    });
    // Older clients take any other status for a broken transport, not for an answer.
    return answerOf(response, 200);
  }

  /** One after the other: a batch that writes the same key twice ends with the later value. */
  async #serveBatch(messages: readonly Incoming[], call: Call): Promise<Answer> {
    const requests = messages.filter(({ message }) => isJSONRPCRequest(message));
    if (requests.some(({ message }) => (message as JSONRPCRequest).method === "initialize")) {
      return json(400, rpcError(INVALID_REQUEST, "Send initialize on its own, not in a batch."));
    }
    const texts: string[] = [];
    for (const request of requests) {
      const { body } = await this.#serveLegacy(request, call, false);
      if (typeof body === "string") texts.push(body);
    }
    return texts.length === 0 ? { status: 202 } : { status: 200, body: `[${texts.join(",")}]` };
  }
}

function authInfo(call: Call, { message, faults }: Incoming) {
  return authInfoOf({ principal: call.principal, sent: sentArguments(message), faults });
}

function webRequest({ headers, signal }: Call): Request {
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

function headersForClassification(headers: Headers, message: unknown) {
  const named = headers.get("mcp-protocol-version");
  // A handshake for a revision that has none is negotiated down; the SDK would take its header for a contradiction.
  const handshake = isObject(message) && message.method === "initialize";
  const version = handshake && !SUPPORTED_PROTOCOL_VERSIONS.includes(named ?? "") ? null : named;
  const method = headers.get("mcp-method");
  const name = headers.get("mcp-name");
  return {
    ...(version !== null && { protocolVersionHeader: version }),
    ...(method !== null && { mcpMethodHeader: method }),
    ...(name !== null && { mcpNameHeader: name }),
  };
}

async function answerOf(response: Response, status: number): Promise<Answer> {
  if (response.body === null) return { status: response.status };
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    return { status: response.status, body: response.body };
  }
  return { status, body: await response.text() };
}

function rejection(route: InboundLadderRejection, content: unknown): Answer {
  const error = { code: route.code, message: route.message, data: route.data };
  return json(route.httpStatus, { jsonrpc: "2.0", error, id: idOf(content) });
}

function json(status: number, error: RpcError): Answer {
  return { status, body: JSON.stringify(error) };
}

function unsupported(version: string): string {
  return `Unsupported protocol version: ${version.slice(0, 40)} (supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}).`;
}
