import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import {
  type Principal,
  requireAdmin,
  requireOperator,
  requireOwner,
} from "../../access/principal.ts";
import { AppError } from "../../errors.ts";
import { IdempotencyKey } from "../../idempotency/service.ts";
import { type Authenticate, requirePrincipal } from "../authentication.ts";
import { isPlainObject, parse } from "./parse.ts";
import { answersHead, type Route, type RouteCaller } from "./route.ts";

export interface ServingOptions {
  readonly authenticate: Authenticate;
  /** Takes messages from the caller's budget. */
  readonly charge: (
    principal: Principal,
    messages: number,
  ) => Promise<{ readonly retryAfterSeconds: number } | undefined>;
  /** The person and store that a pinned key is bound to, for what a request names. @throws AppError NOT_FOUND */
  readonly bind: Bind;
}

/** @returns what the request says, with what the caller's key pins */
export type Bind = (
  principal: Principal,
  takes: Readonly<Record<string, unknown>>,
  sent: Readonly<Record<string, unknown>>,
  place: "params" | "query" | "body",
) => Promise<Readonly<Record<string, unknown>>>;

const NONE = z.strictObject({});

/** Serves routes: who is calling and whether they may come before anything that they sent is read. */
export function serve(
  app: FastifyInstance,
  routes: readonly Route[],
  options: ServingOptions,
): void {
  const principals = new WeakMap<FastifyRequest, Principal>();

  const admit = (caller: RouteCaller) => async (request: FastifyRequest, reply: FastifyReply) => {
    const principal = await requirePrincipal(options.authenticate, request);
    principals.set(request, principal);
    const limited = await options.charge(principal, 1);
    if (limited) {
      reply.header("retry-after", String(Math.ceil(limited.retryAfterSeconds)));
      throw new AppError("RATE_LIMITED", "too many requests with this key");
    }
    requireCaller(principal, caller);
  };

  for (const route of routes) {
    const { method, url, caller, bodyLimit, status = 200 } = route;
    app.route({
      method,
      url,
      exposeHeadRoute: answersHead(route),
      ...(bodyLimit !== undefined && { bodyLimit }),
      ...(caller !== "anybody" && { onRequest: admit(caller) }),
      async handler(request, reply) {
        const answer = await route.handle({
          ...(await read(route, request, principals.get(request), options.bind)),
          signal: whileConnected(reply),
          request,
          reply,
        });
        return reply.sent ? reply : reply.code(status).send(answer);
      },
    });
  }
}

/** @throws AppError FORBIDDEN */
function requireCaller(principal: Principal, caller: RouteCaller): void {
  if (caller === "admin") requireAdmin(principal);
  if (caller === "owner") requireOwner(principal);
  if (caller === "operator") requireOperator(principal);
}

async function read(
  route: Route,
  request: FastifyRequest,
  principal: Principal | undefined,
  bind: Bind,
) {
  const bound = async (schema: z.ZodType, place: "params" | "query" | "body") => {
    const sent = request[place];
    return principal && schema instanceof z.ZodObject && isPlainObject(sent)
      ? bind(principal, schema.shape, sent, place)
      : sent;
  };
  const { params = NONE, query = NONE, body } = route;
  return {
    // Routes for anybody have no use for it.
    by: principal as Principal,
    params: parse(params, await bound(params, "params")),
    query: parse(query, await bound(query, "query")),
    body: body ? parse(body, await bound(body, "body")) : void parse(NONE, request.body ?? {}),
    idempotencyKey: route.idempotent && idempotencyKeyOf(request),
  };
}

/** As it is, or as a structured field (quoted), which the draft of a standard wants. */
function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const sent = headers["idempotency-key"];
  if (sent === undefined) return undefined;
  const { key } = parse(z.object({ key: IdempotencyKey }), {
    key: String(sent).replace(/^"(.*)"$/, "$1"),
  });
  return key;
}

function whileConnected({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
