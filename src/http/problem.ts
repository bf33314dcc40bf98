import { STATUS_CODES } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AppError, ERROR_CODES, type ErrorCode } from "../errors.ts";
import { Unauthorized } from "./authentication.ts";
import { harmless } from "./harmless.ts";

export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  CONFLICT: 409,
  LIMIT_EXCEEDED: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

export const PROBLEM_MEDIA = "application/problem+json";

/** Problem details (RFC 9457) with our code and hint as extension members. */
export const Problem = z
  .strictObject({
    type: z.literal("about:blank"),
    title: z.string().meta({ description: "What the status means" }),
    status: z.int(),
    code: z.enum(ERROR_CODES),
    detail: z.string(),
    hint: z.string().optional().meta({ description: "What to send or do instead" }),
    instance: z.string().meta({ description: "The address that was asked, without its query" }),
  })
  .meta({ id: "Problem" });

/** What Fastify found wrong before a route saw the request, in our words. */
const UNREAD: Readonly<Record<number, Fault>> = {
  413: { code: "LIMIT_EXCEEDED", detail: "the body is larger than this address takes" },
  415: {
    code: "INVALID_INPUT",
    detail: "the body is of a media type that this address does not take",
    hint: "Send Content-Type: application/json.",
  },
};

interface Fault {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly hint?: string | undefined;
}

/** A known address that does not take this method. */
export class MethodNotAllowed extends AppError {
  readonly allowed: string;

  /** @param allowed methods, as an `Allow` header has them */
  constructor(allowed: string) {
    super("INVALID_INPUT", `this address takes ${allowed}`);
    this.allowed = allowed;
  }
}

/** The last stop of every error outside `/mcp`: what a caller can act on is told, the rest is logged once. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const [status, { code, detail, hint }] = faultOf(error);
  if (status >= 500 && !(error instanceof AppError)) {
    request.log.error({ err: error }, "unexpected error");
  }
  // What the router cannot read comes past no hook.
  harmless(reply);
  if (error instanceof Unauthorized) reply.header("www-authenticate", 'Bearer realm="souvenir"');
  if (error instanceof MethodNotAllowed) reply.header("allow", error.allowed);
  if (status === 503) reply.header("retry-after", "5");
  const problem: z.input<typeof Problem> = {
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    code,
    detail,
    ...(hint && { hint }),
    instance: request.url.replace(/\?.*$/s, ""),
  };
  return reply.code(status).type(PROBLEM_MEDIA).send(problem);
}

function faultOf(error: unknown): [status: number, Fault] {
  if (error instanceof AppError) {
    const { code, message: detail, hint } = error;
    const fault = { code, detail, hint };
    if (error instanceof Unauthorized) return [401, fault];
    if (error instanceof MethodNotAllowed) return [405, fault];
    return [ERROR_STATUS[code], fault];
  }
  const status = statusOf(error);
  if (status < 500) {
    const unread = { code: "INVALID_INPUT", detail: "the request could not be read" } as const;
    return [status, UNREAD[status] ?? unread];
  }
  return [status, { code: "INTERNAL", detail: "something went wrong here; it was logged" }];
}

function statusOf(error: unknown): number {
  const status =
    error instanceof Error && "statusCode" in error ? Number(error.statusCode) : Number.NaN;
  return status >= 400 && status < 600 ? status : 500;
}
