import type { Target } from "./load.ts";
import type { ServerProcess } from "./server-process.ts";

export const PEOPLE = 50;
export const LARGEST = "telegram:5000000000";

/** The nth of the ordinary people. */
export function personId(n: number): string {
  return `telegram:${5_000_000_001 + (n % PEOPLE)}`;
}

export interface Case {
  readonly name: string;
  readonly target: Target;
}

const JSON_HEADERS = { "content-type": "application/json" };

/** A call of one tool; `args` makes the arguments of the nth call. */
export function toolCall(
  server: ServerProcess,
  key: string,
  tool: string,
  args: (n: number) => object,
): Target {
  let n = 0;
  return {
    url: server.mcp,
    headers: {
      ...JSON_HEADERS,
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${key}`,
    },
    body: () => callBody(tool, args(n), n++),
  };
}

/** The bare Fastify route first, then the tool that does nothing, then what is measured against them. */
export function casesOf(server: ServerProcess, key: string): Case[] {
  const call = (name: string, args: (n: number) => object): Case => ({
    name,
    target: toolCall(server, key, name, args),
  });
  let n = 0;
  const echo = { url: server.echo, headers: JSON_HEADERS, body: () => callBody("noop", {}, n++) };
  return [
    { name: "bare Fastify echo", target: echo },
    call("noop", () => ({})),
    call("update_memory", (i) => ({
      userId: personId(i),
      key: "cart.last",
      value: { items: [{ sku: `oat-milk-${i}`, count: 2 }], total: "10.50", currency: "EUR" },
    })),
    call("get_user_context", (i) => ({ userId: personId(i) })),
    call("get_chat_history", (i) => ({ userId: personId(i) })),
    call("recall", (i) => ({ userId: personId(i), query: "which oat milk does Ana like?" })),
  ];
}

function callBody(name: string, args: object, id: number): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args },
  });
}
