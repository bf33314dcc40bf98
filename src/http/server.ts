import type { IncomingMessage } from "node:http";
import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { AppError } from "../errors.ts";
import { harmless } from "./harmless.ts";
import type { Metrics } from "./metrics.ts";
import { ownHosts } from "./own-hosts.ts";
import { answerProblem } from "./problem.ts";

/** Node closes idle keep-alive connections itself; while closing, those that fall idle later must be closed too. */
const DRAIN_MS = 50;
/** Calls end within 5 s of a stop. What is still open then is a request that never arrived whole. */
const HANG_UP_AFTER_MS = 6_000;
/** A database that takes longer is of no use to a load balancer, which would wait in vain. */
const READY_WITHIN_MS = 2_000;
/** Asked every few seconds by load balancers: their lines would bury the others. */
const UNLOGGED = new Set(["/healthz", "/readyz", "/metrics"]);

/** The longest id or key of 320 characters, each of four bytes that an address escapes. */
const MAX_PARAMETER = 320 * 12;

interface HttpOptions {
  readonly logger: NonNullable<FastifyServerOptions["logger"]>;
  readonly metrics: Metrics;
  /** Rejects while the server cannot serve: the database is away or not migrated yet. */
  readonly ready: () => Promise<void>;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts: readonly string[];
}

/** The Fastify instance with what every transport shares: errors, health, metrics, a close that ends. */
export function buildHttp(options: HttpOptions): FastifyInstance {
  const { logger, metrics, ready, allowedHosts } = options;
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: false,
    // Proxies and people add one; a redirect would lose the body and the credential.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER },
    // Its answer would have a form of its own; the hook below answers in that of the route.
    return503OnClosing: false,
    // Addresses that the router cannot read would be answered with their own text.
    frameworkErrors(error, request, reply) {
      answerProblem(error, request, reply);
    },
  });
  let draining = false;

  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(() => {
    throw new AppError("NOT_FOUND", "there is nothing at this address");
  });

  app.addHook("onRequest", async ({ raw }) => {
    if (draining) throw new AppError("UNAVAILABLE", "the server is stopping; send it again");
    if (hasTwoHosts(raw)) throw new AppError("INVALID_INPUT", "there are two Host headers");
  });
  app.addHook("onSend", async (_request, reply) => harmless(reply));
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "unknown";
    const { method } = request;
    metrics.request({ route, method, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (UNLOGGED.has(route)) return;
    request.log.info({ req: request, res: reply, ms: Math.round(reply.elapsedTime) }, "answered");
  });

  app.get("/healthz", () => ({ ok: true }));
  app.get("/readyz", async () => {
    await inTime(ready());
    return { ok: true };
  });
  // Unlike the two above it tells what the server does: not to a page in its user's browser.
  app.get("/metrics", { onRequest: ownHosts(allowedHosts) }, async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.text();
  });

  let drain: NodeJS.Timeout | undefined;
  let hangUp: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    draining = true;
    drain = setInterval(() => app.server.closeIdleConnections(), DRAIN_MS);
    hangUp = setTimeout(() => app.server.closeAllConnections(), HANG_UP_AFTER_MS);
  });
  app.addHook("onClose", async () => {
    clearInterval(drain);
    clearTimeout(hangUp);
  });
  return app;
}

/** Node goes by the first and proxies by either; RFC 9112 wants such a request refused. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  return names.filter((name) => name.toLowerCase() === "host").length > 1;
}

async function inTime(ready: Promise<void>): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fault = new AppError("UNAVAILABLE", "the database does not answer");
    limit = setTimeout(reject, READY_WITHIN_MS, fault);
  });
  try {
    await Promise.race([ready, late]);
  } finally {
    clearTimeout(limit);
  }
}
