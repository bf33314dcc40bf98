import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { AppError, type ErrorCode } from "../errors.ts";
import { logUnexpected } from "./answers.ts";
import { BodyError } from "./json.ts";
import {
  dataOf,
  HTTP_FAULT,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type RpcErrorData,
  type RpcId,
  rpcError,
} from "./rpc.ts";

const STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  CONFLICT: 409,
  LIMIT_EXCEEDED: 429,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** Of a 503: a database comes back, or another process takes the place of one that stops. */
export const RETRY_AFTER_SECONDS = "5";

export function refuse(
  reply: FastifyReply,
  status: number,
  code: number,
  message: string,
  { id = null, data }: { id?: RpcId; data?: RpcErrorData } = {},
): FastifyReply {
  return reply.code(status).send(rpcError(code, message, id, data));
}

/**
 * Whether a JSON answer may be sent. The spec wants clients to name both JSON and the event stream; the real ones that
 * send only one of them, a wildcard or nothing are served too.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  return accept
    .split(",")
    .map((range) => range.split(";")[0]?.trim().toLowerCase())
    .some((range) => range === "*/*" || range === "application/*" || range === "application/json");
}

/** What goes wrong before or outside a handler, in JSON-RPC form and without a word from inside. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof BodyError) {
    return refuse(reply, error.status, error.code, error.message, { id: error.id });
  }
  if (error instanceof AppError) {
    if (error.code === "UNAVAILABLE") reply.header("retry-after", RETRY_AFTER_SECONDS);
    return refuse(reply, STATUS[error.code], HTTP_FAULT, error.message, { data: dataOf(error) });
  }
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return refuse(reply, 413, HTTP_FAULT, "The request body is larger than 4 MiB.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return refuse(reply, 415, HTTP_FAULT, "Send Content-Type: application/json.");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return refuse(reply, 400, INVALID_REQUEST, "Content-Length does not match the body.");
    default:
      // A client that broke off while it sent, or broke a rule of HTTP.
      if (error.statusCode !== undefined && error.statusCode < 500) {
        return refuse(reply, error.statusCode, INVALID_REQUEST, "Bad request");
      }
      logUnexpected(error, {}, request.log);
      return refuse(reply, 500, INTERNAL_ERROR, "Internal error");
  }
}
