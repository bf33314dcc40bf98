import type { AppError } from "../errors.ts";

/** JSON-RPC ids that can be echoed; anything else is answered with `null`. */
export type RpcId = string | number | null;

/** JSON-RPC error codes used before or beside the SDK. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** What the SDK itself answers for faults of the HTTP exchange (host, method, media type, size). */
export const HTTP_FAULT = -32000;

export interface RpcError {
  readonly jsonrpc: "2.0";
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly id: RpcId;
}

/** What a caller can act on: JSON-RPC's own codes do not tell an outage from a mistake. */
export type RpcErrorData = Readonly<Pick<AppError, "code">> & { readonly hint?: string };

export function rpcError(
  code: number,
  message: string,
  id: RpcId = null,
  data?: RpcErrorData,
): RpcError {
  return { jsonrpc: "2.0", error: { code, message, ...(data && { data }) }, id };
}

export function dataOf({ code, hint }: AppError): RpcErrorData {
  return hint === undefined ? { code } : { code, hint };
}

/** The id of a request, where it can be read and repeated exactly. */
export function idOf(message: unknown): RpcId {
  if (!isObject(message) || typeof message.method !== "string") return null;
  const id = message.id;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
