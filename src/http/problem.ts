import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, type ErrorCode } from "../errors.ts";
import { Unauthorized } from "./authentication.ts";

const STATUS: Record<ErrorCode, number> = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  CONFLICT: 409,
  LIMIT_EXCEEDED: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** Problem details (RFC 9457) with our code and hint as extension members. */
function problem(
  reply: FastifyReply,
  status: number,
  code: ErrorCode,
  detail: string,
  hint?: string,
) {
  if (status === 503) reply.header("retry-after", "5");
  return reply
    .code(status)
    .type("application/problem+json")
    .send({ type: "about:blank", title: code, status, detail, ...(hint && { hint }) });
}

/** The last stop of every error outside `/mcp`: what a caller can act on is told, the rest is logged once. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof Unauthorized) {
    reply.header("www-authenticate", 'Bearer realm="souvenir"');
    return problem(reply, 401, error.code, error.message);
  }
  if (error instanceof AppError) {
    return problem(reply, STATUS[error.code], error.code, error.message, error.hint);
  }
  const status = statusOf(error);
  if (status < 500) {
    return problem(reply, status, "INVALID_INPUT", "the request could not be read");
  }
  request.log.error({ err: error }, "unexpected error");
  return problem(reply, 500, "INTERNAL", "something went wrong here; it was logged");
}

function statusOf(error: unknown): number {
  const status =
    error instanceof Error && "statusCode" in error ? Number(error.statusCode) : Number.NaN;
  return status >= 400 && status < 600 ? status : 500;
}
