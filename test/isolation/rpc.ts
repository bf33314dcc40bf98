import type { TestApp } from "../support/app.ts";

/** An answer as it went over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly text: string;
}

/** One JSON-RPC request to `/mcp`. */
export async function rpc(
  app: TestApp,
  key: string,
  method: string,
  params: object = {},
): Promise<WireAnswer> {
  const response = await app.http.inject({
    method: "POST",
    url: "/mcp",
    headers: {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${key}`,
    },
    payload: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return { status: response.statusCode, text: response.body };
}

export const callTool = (app: TestApp, key: string, name: string, args: object) =>
  rpc(app, key, "tools/call", { name, arguments: args });

/** The result of a request that has to succeed. */
export async function resultOf<T>(
  app: TestApp,
  key: string,
  method: string,
  params: object = {},
): Promise<T> {
  const { text } = await rpc(app, key, method, params);
  const { result, error } = JSON.parse(text) as { result?: T; error?: object };
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: { readonly properties: Readonly<Record<string, unknown>> };
}

export async function toolsOf(app: TestApp, key: string): Promise<readonly ListedTool[]> {
  return (await resultOf<{ tools: ListedTool[] }>(app, key, "tools/list")).tools;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One request to `/v1` with a key. */
export async function v1(
  app: TestApp,
  key: string,
  method: Method,
  url: string,
  payload?: object,
): Promise<WireAnswer> {
  const response = await app.http.inject({
    method,
    url,
    headers: { host: "localhost", authorization: `Bearer ${key}` },
    ...(payload && { payload }),
  });
  return { status: response.statusCode, text: response.body };
}

/** Every route of `/v1` that the server has, as `METHOD /path`. */
export function v1RoutesOf(app: TestApp): string[] {
  return routesUnder(app, "/v1/");
}

/** Every route whose path begins so. */
export function routesUnder(app: TestApp, prefix: string): string[] {
  const routes: string[] = [];
  const path: string[] = [];
  for (const line of app.http.printRoutes({ commonPrefix: false }).split("\n")) {
    const match = /^((?:[│ ] {3})*)[├└]── (\S+) \((.+)\)$/.exec(line);
    if (!match) continue;
    const [, indent = "", part = "", methods = ""] = match;
    path.length = indent.length / 4;
    path.push(part);
    const url = path.join("");
    if (!url.startsWith(prefix)) continue;
    for (const method of methods.split(", ")) {
      if (method !== "HEAD") routes.push(`${method} ${url}`);
    }
  }
  return routes.sort();
}
