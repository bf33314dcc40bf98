import { hostHeaderValidation, originValidation } from "@modelcontextprotocol/fastify";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../access/principal.ts";
import { Exchange } from "./exchange.ts";
import { acceptsJson, answerError, refuse } from "./http.ts";
import { type Body, parseBody } from "./json.ts";
import { HTTP_FAULT, INVALID_REQUEST } from "./rpc.ts";
import { Running } from "./running.ts";
import { ServerFactory, type ServerParts } from "./server.ts";

/** As much as the SDK takes: the largest batch of memory entries fits, and a body cannot fill the memory. */
const BODY_LIMIT = 4 * 1024 * 1024;
const REFUSED = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export interface McpOptions extends ServerParts {
  /** The caller by the request's credential; `undefined` is answered 401. Called before the body is read. */
  readonly authenticate: (request: FastifyRequest) => Promise<Principal | undefined>;
  /**
   * Takes `messages` from the caller's budget; a result is answered 429. Called with 1 before the body is read, and with
   * the rest of a batch once it was.
   */
  readonly charge?: (
    principal: Principal,
    messages: number,
  ) => Promise<{ readonly retryAfterSeconds: number } | undefined>;
  /** Host names beside the loopback ones, as they stand in `Host` and `Origin`, without ports. */
  readonly allowedHosts?: readonly string[];
}

/**
 * Serves MCP at `/mcp`; some clients add a slash, which the app's router is to ignore. Stateless: a session id is
 * ignored, GET and DELETE are 405. Everything here is answered in JSON-RPC form, what Fastify finds before the SDK is
 * reached too. Closing the app lets running calls finish for 5 s and then aborts them; there are no other streams, since
 * no list ever changes.
 */
export async function mountMcp(app: FastifyInstance, options: McpOptions): Promise<void> {
  await app.register(async (scope) => {
    const exchange = new Exchange(new ServerFactory(options, scope.log));
    const running = new Running();
    const principals = new WeakMap<FastifyRequest, Principal>();
    const hosts = [
      ...localhostAllowedHostnames(),
      ...(options.allowedHosts ?? []).map((host) => host.toLowerCase()),
    ];

    scope.setErrorHandler(answerError);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser<Buffer>(
      "application/json",
      { parseAs: "buffer", bodyLimit: BODY_LIMIT },
      async (_request: FastifyRequest, bytes: Buffer) => parseBody(bytes),
    );
    scope.addHook("onRequest", hostHeaderValidation(hosts));
    scope.addHook("onRequest", originValidation(hosts));
    scope.addHook("onRequest", async (request, reply) => {
      if (!isServed(request, reply)) return reply;
      const principal = await options.authenticate(request);
      if (principal === undefined) return refuseStranger(reply);
      principals.set(request, principal);
      return (await isOverBudget(options, principal, 1, reply)) ? reply : undefined;
    });

    const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const principal = principals.get(request);
      const body = request.body as Body | undefined;
      if (principal === undefined || body === undefined) {
        return refuse(reply, 400, INVALID_REQUEST, "Send one JSON-RPC message as JSON.");
      }
      const more = body.messages.length - 1;
      if (more > 0 && (await isOverBudget(options, principal, more, reply))) return reply;
      return running.run(reply, (signal) =>
        exchange.answer(body, { principal, headers: mcpHeaders(request), signal }),
      );
    };
    const method = ["POST", ...REFUSED];
    scope.route({ method, url: "/mcp", exposeHeadRoute: false, handler: serve });

    scope.addHook("preClose", async () => running.drain());
  });
}

/** Refuses the methods of the session-bound transport, and clients that cannot read the answer. */
function isServed(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method !== "POST") {
    reply.header("allow", "POST");
    refuse(reply, 405, HTTP_FAULT, "Method not allowed: send a POST.");
    return false;
  }
  if (acceptsJson(request.headers.accept)) return true;
  refuse(reply, 406, HTTP_FAULT, "Send Accept: application/json, text/event-stream.");
  return false;
}

function refuseStranger(reply: FastifyReply): FastifyReply {
  reply.header("www-authenticate", 'Bearer realm="souvenir"');
  return refuse(reply, 401, HTTP_FAULT, "Unauthorized: send Authorization: Bearer <API key>.");
}

/** Answers 429 when the caller's budget is used up; there is no id yet, or too many. */
async function isOverBudget(
  { charge }: McpOptions,
  principal: Principal,
  messages: number,
  reply: FastifyReply,
): Promise<boolean> {
  const limited = await charge?.(principal, messages);
  if (limited === undefined) return false;
  const seconds = Math.max(1, Math.ceil(limited.retryAfterSeconds));
  reply.header("retry-after", String(seconds));
  const message = `Too many requests: try again in ${seconds} s.`;
  refuse(reply, 429, HTTP_FAULT, message, { data: { code: "RATE_LIMITED" } });
  return true;
}

function mcpHeaders(request: FastifyRequest): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith("mcp-") && typeof value === "string") headers.set(name, value);
  }
  return headers;
}
