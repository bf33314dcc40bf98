import type { CallToolResult } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { FastifyBaseLogger } from "fastify";
import type { Principal } from "../access/principal.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { dataOf, HTTP_FAULT } from "./rpc.ts";

/** A tool's answer: the structured form, and the same JSON as text for clients that read only text. */
export function success(output: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(output) }],
    structuredContent: output,
  };
}

/**
 * A tool's refusal. Never in `structuredContent`: clients of the 2025 revisions check that against the output
 * schema and throw.
 */
function failure(code: ErrorCode, message: string, hint?: string): CallToolResult {
  const error = hint === undefined ? { code, message } : { code, message, hint };
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error }) }] };
}

const INTERNAL_MESSAGE =
  "Something went wrong on the server and was logged there. Try again later.";

/**
 * Turns whatever a tool threw into its answer. An unexpected error is logged here, once, without its message
 * (database and provider errors quote the values they failed on) and answered in neutral words. What a cancelled
 * call ran into is its client's doing: nobody needs to act on it, and nobody reads the answer.
 */
export function failureOf(
  error: unknown,
  call: { readonly tool: string; readonly principal: Principal; readonly cancelled: boolean },
  log: FastifyBaseLogger,
): CallToolResult {
  if (error instanceof AppError) return failure(error.code, error.message, error.hint);
  const ids = { tool: call.tool, ...idsOf(call.principal) };
  if (call.cancelled) log.debug({ ...ids, failure: traceOf(error) }, "mcp: cancelled call failed");
  else logUnexpected(error, ids, log);
  return failure("INTERNAL", INTERNAL_MESSAGE);
}

/** The same for resources and prompts, whose failures are JSON-RPC errors. */
export function protocolErrorOf(
  error: unknown,
  principal: Principal,
  log: FastifyBaseLogger,
): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof AppError && error.code !== "INTERNAL") {
    const code = error.code === "UNAVAILABLE" ? HTTP_FAULT : ProtocolErrorCode.InvalidParams;
    return new ProtocolError(code, error.message, dataOf(error));
  }
  logUnexpected(error, idsOf(principal), log);
  return new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
}

function idsOf(principal: Principal): { orgId: string; keyId: string } {
  return { orgId: principal.orgId, keyId: principal.keyId };
}

export function logUnexpected(
  error: unknown,
  ids: Readonly<Record<string, string>>,
  log: FastifyBaseLogger,
): void {
  log.error({ ...ids, failure: traceOf(error) }, "mcp: unexpected failure");
}

/** Names, codes and stack frames of an error and its causes, without any message. */
function traceOf(error: unknown): readonly object[] {
  const trace: object[] = [];
  for (let at = error; at instanceof Error && trace.length < 5; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? { code: at.code } : {};
    const frames = at.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
    trace.push({ name: at.name, ...code, at: frames.slice(0, 8).map((line) => line.trim()) });
  }
  return trace.length > 0 ? trace : [{ name: typeof error }];
}
