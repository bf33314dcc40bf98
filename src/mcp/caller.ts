import type { AuthInfo, ServerContext } from "@modelcontextprotocol/server";
import type { Principal } from "../access/principal.ts";
import type { Fault } from "../json-scan.ts";

/** What travels with one message from the HTTP edge to its handler, and nothing else does. */
export interface Caller {
  readonly principal: Principal;
  /** The arguments of a tool call as they were sent: the SDK's own copy has lost a `__proto__` key. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** What JavaScript would have changed in the arguments of this call. */
  readonly faults: readonly Fault[];
}

/** The SDK's carrier for identity. The credential itself is left behind at the edge. */
export function authInfoOf(caller: Caller): AuthInfo {
  return { token: "", clientId: caller.principal.keyId, scopes: [], extra: { caller } };
}

export function callerOf(carrier: AuthInfo | undefined): Caller {
  const caller = carrier?.extra?.caller;
  if (caller === undefined) throw new Error("an MCP message reached its handler without a caller");
  return caller as Caller;
}

/** Who is calling, inside a resource, prompt or completion callback. */
export function principalOf(context: ServerContext): Principal {
  return callerOf(context.http?.authInfo).principal;
}
