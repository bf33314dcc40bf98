import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { AppError } from "../errors.ts";
import type { Metrics } from "./metrics.ts";
import { answerProblem } from "./problem.ts";

/** Node closes idle keep-alive connections itself; while closing, those that fall idle later must be closed too. */
const DRAIN_MS = 50;
/** Calls end within 5 s of a stop. What is still open then is a request that never arrived whole. */
const HANG_UP_AFTER_MS = 6_000;
/** A database that takes longer is of no use to a load balancer, which would wait in vain. */
const READY_WITHIN_MS = 2_000;
/** Asked every few seconds by load balancers: their lines would bury the others. */
const UNLOGGED = new Set(["/healthz", "/readyz", "/metrics"]);

interface HttpOptions {
  readonly logger: NonNullable<FastifyServerOptions["logger"]>;
  readonly metrics: Metrics;
  /** Rejects while the server cannot serve: the database is away or not migrated yet. */
  readonly ready: () => Promise<void>;
}

/** The Fastify instance with what every transport shares: errors, health, metrics, a close that ends. */
export function buildHttp({ logger, metrics, ready }: HttpOptions): FastifyInstance {
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: false,
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

  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "unknown";
    const { method } = request;
    metrics.request({ route, method, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (UNLOGGED.has(route)) return;
    request.log.info({ req: request, res: reply, ms: Math.round(reply.elapsedTime) }, "answered");
  });

  app.get("/healthz", () => ({ ok: true }));
  app.get("/readyz", async () => {
    if (draining) throw new AppError("UNAVAILABLE", "the server is stopping");
    await inTime(ready());
    return { ok: true };
  });
  app.get("/metrics", async (_request, reply) => {
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
