import type { FastifyServerOptions } from "fastify";
import type { Config } from "../config.ts";

const PASSWORDS = ["authorization", "cookie", "x-telegram-bot-api-secret-token"];

interface Fault {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
}

/**
 * An error without its message: messages of drivers and clients quote values, URLs with tokens and texts. Names, codes
 * and stack frames say where it came from.
 */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, code, stack, cause }: Fault = error;
  return {
    type: name,
    ...(typeof code === "string" && { code }),
    ...(typeof stack === "string" && { stack: framesOf(stack) }),
    ...(cause instanceof Error && { cause: errorFields(cause) }),
  };
}

function framesOf(stack: string): string[] {
  return stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^at .*[:\d)]$/.test(line))
    .slice(0, 8);
}

/** One event a line, ids and never contents. A query string may hold a token, so only the route's pattern is logged. */
export function loggerOptions(
  level: Config["LOG_LEVEL"],
  stream?: { write(line: string): void },
): NonNullable<FastifyServerOptions["logger"]> {
  return {
    level,
    ...(stream && { stream }),
    base: null,
    redact: PASSWORDS.map((header) => `*.headers["${header}"]`),
    serializers: {
      err: errorFields as never,
      req: (request) => ({ method: request.method, route: request.routeOptions?.url ?? "unknown" }),
      res: (reply) => ({ statusCode: reply.statusCode }),
    },
  };
}
