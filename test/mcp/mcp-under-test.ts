import { Writable } from "node:stream";
import Fastify, { type FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { z } from "zod";
import type { Principal } from "../../src/access/principal.ts";
import { AppError } from "../../src/errors.ts";
import { type McpOptions, mountMcp } from "../../src/mcp/mount.ts";
import { defineTool } from "../../src/mcp/tool.ts";

export const member: Principal = {
  orgId: "org-1",
  keyId: "key-1",
  role: "member",
  defaultAgent: "atlas",
  pins: {},
};

const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
const WRITES = { ...READS, readOnlyHint: false } as const;

/** Answers what it was given, so that a test sees what reached the handler. */
export const keep = defineTool({
  name: "keep",
  title: "Keep a value",
  description: "Answers the value it was given.",
  input: z.strictObject({
    userId: z.string().min(1).describe("Whose value it is."),
    value: z.unknown(),
    limit: z.int().min(1).default(50),
    loud: z.boolean().optional(),
    tags: z.array(z.string().max(10)).max(8).optional(),
  }),
  output: z.strictObject({ userId: z.string(), value: z.unknown(), limit: z.int() }),
  annotations: WRITES,
  alwaysLoad: true,
  async handle({ userId, value, limit, ...rest }) {
    return { userId, value, limit, ...rest };
  },
});

const keepAll = defineTool({
  name: "keep_all",
  title: "Keep values",
  description: "Answers the entries it was given.",
  input: z.strictObject({
    userId: z.string(),
    entries: z.array(z.strictObject({ key: z.string().max(5), value: z.unknown() })).min(1),
  }),
  output: z.strictObject({ entries: z.array(z.unknown()) }),
  annotations: WRITES,
  handle: async ({ entries }) => ({ entries }),
});

const whoami = defineTool({
  name: "whoami",
  title: "Who am I",
  description: "Answers the caller's key.",
  input: z.strictObject({}),
  output: z.strictObject({ keyId: z.string() }),
  annotations: READS,
  handle: async (_input, { principal }) => ({ keyId: principal.keyId }),
});

const purge = defineTool({
  name: "purge",
  title: "Purge",
  description: "For admins.",
  input: z.strictObject({}),
  output: z.strictObject({ done: z.boolean() }),
  annotations: { ...WRITES, destructiveHint: true },
  minRole: "admin",
  handle: async () => ({ done: true }),
});

/** Fails as it is told. */
const fail = defineTool({
  name: "fail",
  title: "Fail",
  description: "Fails.",
  input: z.strictObject({ how: z.enum(["expected", "unexpected"]) }),
  output: z.strictObject({}),
  annotations: READS,
  async handle({ how }) {
    if (how === "expected")
      throw new AppError("CONFLICT", "Already there.", { hint: "Read first." });
    throw Object.assign(new Error("insert into people values ('Ana')"), { code: "23505" });
  },
});

const tools = [keep, keepAll, whoami, purge, fail];

export interface McpUnderTest {
  readonly app: FastifyInstance;
  /** Log lines, parsed. */
  readonly logs: Record<string, unknown>[];
}

/** A Fastify app with the mount; `Authorization: Bearer <keyId>` is a member key of that id. Closed after the test. */
export async function serveMcp(options: Partial<McpOptions> = {}): Promise<McpUnderTest> {
  const logs: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      logs.push(JSON.parse(String(line)) as Record<string, unknown>);
      done();
    },
  });
  const app = Fastify({
    logger: { level: "debug", stream },
    routerOptions: { ignoreTrailingSlash: true },
  });
  await mountMcp(app, {
    name: "under-test",
    version: "1.0.0",
    instructions: "Recall first.",
    tools,
    authenticate: async ({ headers }) => {
      const keyId = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
      return keyId === undefined ? undefined : { ...member, keyId };
    },
    ...options,
  });
  onTestFinished(() => app.close());
  return { app, logs };
}

export const REVISION = "2026-07-28";
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "probe", version: "0" },
  },
};

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into an answer whose shape is what it tests
  readonly json: any;
}

/** Posts a body (text as it is, anything else as JSON) the way a well-behaved client does; `undefined` removes a header. */
export async function post(
  { app }: McpUnderTest,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
  url = "/mcp",
): Promise<Answer> {
  const all = {
    authorization: "Bearer key-1",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...headers,
  };
  const response = await app.inject({
    method: "POST",
    url,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    payload: typeof body === "string" ? body : JSON.stringify(body),
  });
  return answerOf(response.statusCode, response.headers, response.payload);
}

function answerOf(status: number, headers: object, text: string): Answer {
  const isJson = text.startsWith("{") || text.startsWith("[");
  return { status, headers: { ...headers }, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Calls a tool with its arguments as JSON text, so that nothing between the test and the server can change them. */
export function callText(server: McpUnderTest, tool: string, args: string): Promise<Answer> {
  const params = `{"name":${JSON.stringify(tool)},"arguments":${args}}`;
  return post(server, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`);
}

export function call(
  server: McpUnderTest,
  tool: string,
  args?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const params = { name: tool, ...(args !== undefined && { arguments: args }) };
  return post(server, { jsonrpc: "2.0", id: 7, method: "tools/call", params }, headers);
}

/** The same request in the way of revision 2026-07-28. */
export function postModern(
  server: McpUnderTest,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const name = params.name;
  const _meta = {
    ...(params._meta as object | undefined),
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "probe", version: "0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return post(
    server,
    { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } },
    {
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  );
}

/** The error of a tool result. */
export function errorOf({ json }: Answer): { code: string; message: string; hint?: string } {
  return JSON.parse(json.result.content[0].text).error;
}
