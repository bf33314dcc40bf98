import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Config } from "../config.ts";
import { type OperatorAddress, readOperatorFile } from "./operator-file.ts";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** One way to the server's `/v1`, wherever that server is. */
export interface Operator {
  request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object,
  ): Promise<Answer>;
  /** An answer of any length: its body is read as fast as it is taken. */
  stream(path: string): Promise<{ readonly status: number; readonly body: Readable }>;
  close(): Promise<void>;
}

/**
 * Reaches `/v1` as the operator of an org: over HTTP where a server owns the embedded database, else by a server built
 * here that never listens.
 *
 * @throws when the database cannot be used; where another process holds the data directory the message names its pid
 */
export async function connect(
  config: Config,
  org: string | undefined,
  secretOf?: (variable: string) => string | undefined,
): Promise<Operator> {
  const running = config.DATABASE_URL === undefined && readOperatorFile(config.DATA_DIR);
  if (running && (await isOwner(running))) return overHttp(running, org);
  return connectInProcess(config, org, secretOf);
}

function overHttp({ url, token }: OperatorAddress, org: string | undefined): Operator {
  const headers = operatorHeaders(token, org);
  return {
    async request(method, path, body) {
      const type = { "content-type": "application/json" };
      // Not fetch: that gives an answer up after five minutes, and a consolidation may take longer.
      const sent = request(url + path, {
        method,
        headers: body ? { ...headers, ...type } : headers,
      });
      sent.end(body && JSON.stringify(body));
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return { status: response.statusCode ?? 0, body: read(await text(response)) };
    },
    async stream(path) {
      const sent = request(url + path, { headers });
      sent.end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return { status: response.statusCode ?? 0, body: response };
    },
    close: async () => {},
  };
}

async function connectInProcess(
  config: Config,
  org: string | undefined,
  secretOf: (variable: string) => string | undefined = () => undefined,
): Promise<Operator> {
  // Loading the whole server takes longer than asking one that runs.
  const { buildApp } = await import("../app.ts");
  const app = await buildApp({ ...config, LOG_LEVEL: "silent" }, { background: false, secretOf });
  let isReady = false;
  await app.start({
    ready(ownerKey) {
      isReady = true;
      if (ownerKey === undefined) return;
      process.stderr.write(`The first owner key, shown only this once: ${ownerKey}\n`);
    },
    failed: () => {},
  });
  if (!isReady) {
    await app.close();
    throw new Error("the database of DATABASE_URL cannot be reached");
  }
  const headers = operatorHeaders(app.operatorToken, org);
  return {
    async request(method, url, body) {
      const response = await app.http.inject({
        method,
        url,
        headers,
        ...(body && { payload: body }),
      });
      return { status: response.statusCode, body: read(response.body) };
    },
    async stream(url) {
      const asked = { method: "GET", url, headers, payloadAsStream: true } as const;
      const response = await app.http.inject(asked);
      return { status: response.statusCode, body: response.stream() };
    },
    close: () => app.close(),
  };
}

function operatorHeaders(token: string, org: string | undefined): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(org !== undefined && { "x-souvenir-org": org }),
  };
}

function read(answer: string): Record<string, unknown> {
  return answer === "" ? {} : (JSON.parse(answer) as Record<string, unknown>);
}

/** After a crash the file stays behind and another program may have the port: only the token's maker takes the token. */
async function isOwner({ url, token }: OperatorAddress): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/orgs`, { headers: operatorHeaders(token, undefined) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
