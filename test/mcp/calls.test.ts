import { completable, ResourceTemplate } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { AppError } from "../../src/errors.ts";
import { principalOf } from "../../src/mcp/caller.ts";
import { defineTool } from "../../src/mcp/tool.ts";
import {
  call,
  errorOf,
  INITIALIZE,
  keep,
  member,
  post,
  postModern,
  serveMcp,
} from "./mcp-under-test.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

test("tools are listed in their order, lean, with all that a client shows", async () => {
  const server = await serveMcp();
  const { json } = await post(server, LIST);
  const names = json.result.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["keep", "keep_all", "whoami", "fail"]);
  expect(json.result.tools[0]).toEqual({
    name: "keep",
    title: "Keep a value",
    description: "Answers the value it was given.",
    inputSchema: {
      type: "object",
      properties: {
        userId: { description: "Whose value it is.", type: "string" },
        value: {},
        limit: { default: 50, type: "integer", minimum: 1 },
        loud: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["userId", "value"],
    },
    outputSchema: {
      type: "object",
      properties: { userId: { type: "string" }, value: {}, limit: { type: "integer" } },
      required: ["userId", "value", "limit"],
    },
    annotations: {
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    _meta: { "anthropic/alwaysLoad": true },
  });
  const modern = await postModern(server, "tools/list");
  expect(modern.json.result.tools).toEqual(json.result.tools);
});

test("formats are published without the pattern that says them again", async () => {
  const dated = defineTool({
    ...keep,
    name: "dated",
    input: z.strictObject({ at: z.iso.datetime({ offset: true }), id: z.uuid() }),
    output: z.strictObject({ counts: z.record(z.string(), z.int()) }),
    handle: async () => ({ counts: {} }),
  });
  const { json } = await post(await serveMcp({ tools: [dated] }), LIST);
  const [tool] = json.result.tools;
  expect(tool.inputSchema.properties).toEqual({
    at: { type: "string", format: "date-time" },
    id: { type: "string", format: "uuid" },
  });
  expect(tool.outputSchema.properties.counts).toEqual({ type: "object" });
});

test("a schema may depend on the pins, and is made once", async () => {
  let made = 0;
  const scoped = defineTool({
    ...keep,
    name: "scoped",
    input: (pins) => {
      made++;
      return z.strictObject({
        userId: z.string(),
        scope: z.enum(pins.userId ? ["user"] : ["org", "user"]),
      });
    },
    output: z.strictObject({ scope: z.string() }),
    handle: async ({ scope }) => ({ scope }),
  });
  const server = await serveMcp({
    tools: [scoped],
    authenticate: async ({ headers }) =>
      headers.authorization === "pinned" ? { ...member, pins: { userId: "u" } } : member,
  });
  const pinned = { authorization: "pinned" };
  const scopes = async (headers = {}) =>
    (await post(server, LIST, headers)).json.result.tools[0].inputSchema.properties.scope.enum;
  expect(await scopes()).toEqual(["org", "user"]);
  expect(await scopes(pinned)).toEqual(["user"]);
  expect(errorOf(await call(server, "scoped", { scope: "org" }, pinned)).code).toBe(
    "INVALID_INPUT",
  );
  const { json } = await call(server, "scoped", { scope: "org", userId: "u" });
  expect(json.result.structuredContent).toEqual({ scope: "org" });
  expect(made).toBe(2);
});

test("a rule of the tool's own is told in its words", async () => {
  const input = z
    .strictObject({ scope: z.enum(["org", "user"]), userId: z.string().optional() })
    .superRefine(({ scope, userId }, context) => {
      if (scope === "org" || userId !== undefined) return;
      context.addIssue({ code: "custom", path: ["userId"], message: "scope user needs it." });
      context.addIssue({ code: "custom", message: "Nothing was stored." });
    });
  const ruled = defineTool({
    ...keep,
    name: "ruled",
    input,
    output: z.strictObject({}),
    handle: async () => ({}),
  });
  const server = await serveMcp({ tools: [ruled] });
  const { message } = errorOf(await call(server, "ruled", { scope: "user" }));
  expect(message).toBe("userId: scope user needs it. Nothing was stored.");
});

test("a tool for admins is hidden from members and forbidden to them", async () => {
  const server = await serveMcp({
    authenticate: async ({ headers }) => ({
      ...member,
      role: headers.authorization === "admin" ? "admin" : "member",
    }),
  });
  expect(errorOf(await call(server, "purge"))).toEqual({
    code: "FORBIDDEN",
    message: "purge needs a key with the role admin.",
  });
  const admin = { authorization: "admin" };
  const { json } = await post(server, LIST, admin);
  expect(json.result.tools.map(({ name }: { name: string }) => name)).toContain("purge");
  expect((await call(server, "purge", {}, admin)).json.result.isError).toBeUndefined();
});

test("a result says the same in structure and in text, in both eras", async () => {
  const server = await serveMcp();
  const sent = { userId: "u", value: { z: 1, a: [null, "10.5"] } };
  const expected = { ...sent, limit: 50 };
  for (const { status, json } of [
    await call(server, "keep", sent),
    await postModern(server, "tools/call", { name: "keep", arguments: sent }),
  ]) {
    expect(status).toBe(200);
    expect(json.result.structuredContent).toEqual(expected);
    expect(json.result.content).toEqual([{ type: "text", text: JSON.stringify(expected) }]);
  }
});

test("a tool's error is a result with a code, in text alone", async () => {
  const server = await serveMcp();
  const expected = {
    isError: true,
    content: [
      {
        type: "text",
        text: '{"error":{"code":"CONFLICT","message":"Already there.","hint":"Read first."}}',
      },
    ],
  };
  const legacy = await call(server, "fail", { how: "expected" });
  expect(legacy.json.result).toEqual(expected);
  const params = { name: "fail", arguments: { how: "expected" } };
  const modern = await postModern(server, "tools/call", params);
  expect(modern.json.result).toMatchObject(expected);
  expect(modern.json.result.structuredContent).toBeUndefined();
});

test("an unexpected failure is logged once, by ids, and tells the caller nothing", async () => {
  const server = await serveMcp();
  const error = errorOf(await call(server, "fail", { how: "unexpected" }));
  expect(error.code).toBe("INTERNAL");
  expect(error.message).not.toContain("insert");
  const logged = server.logs.filter(({ level }) => level === 50);
  expect(logged).toMatchObject([
    { tool: "fail", orgId: "org-1", keyId: "key-1", failure: [{ name: "Error", code: "23505" }] },
  ]);
  expect(JSON.stringify(server.logs)).not.toContain("Ana");
});

test("unknown tools and malformed requests are JSON-RPC errors that echo the id", async () => {
  const server = await serveMcp();
  const error = async (method: string, params?: unknown) => {
    const { status, json } = await post(server, { jsonrpc: "2.0", id: "x", method, params });
    return [status, json.id, json.error.code];
  };
  const invalid = [200, "x", -32602];
  expect(await error("tools/call", { name: "nope", arguments: {} })).toEqual(invalid);
  expect(await error("tools/call", { arguments: {} })).toEqual(invalid);
  expect(await error("tools/call", { name: "keep", arguments: [1] })).toEqual(invalid);
  expect(await error("tools/call", { name: "keep", arguments: "{}" })).toEqual(invalid);
  expect(await error("tools/call")).toEqual(invalid);
  expect(await error("resources/read", {})).toEqual(invalid);
  expect(await error("nonsense")).toEqual([200, "x", -32601]);
  const modern = await postModern(server, "tools/call", { name: "keep", arguments: 5 });
  expect([modern.json.id, modern.json.error.code]).toEqual([7, -32602]);
});

test.each([
  ["initialize", undefined],
  ["initialize", {}],
  ["initialize", { ...INITIALIZE.params, protocolVersion: 5 }],
  ["initialize", { ...INITIALIZE.params, capabilities: [] }],
  ["initialize", { ...INITIALIZE.params, clientInfo: {} }],
  ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].flatMap(
    (method) => [5, null, {}, ["a"]].map((cursor) => [method, { cursor }] as const),
  ),
  ["tools/call", { name: 5 }],
  ["tools/call", { name: "keep", task: 5 }],
  ["tools/call", { name: "keep", task: { ttl: "x" } }],
  ["resources/read", { uri: 5 }],
  ["prompts/get", { name: "p", arguments: { a: 1 } }],
  ["completion/complete", { ref: { type: "ref/none" }, argument: { name: "a", value: "b" } }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: 5 }],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "b" }, context: 5 },
  ],
] as const)("params that %s does not take are told in a sentence: %j", async (method, params) => {
  const server = await serveMcp({
    describe: (mcp) => {
      mcp.registerPrompt(
        "p",
        { argsSchema: z.object({ a: completable(z.string(), () => []) }) },
        () => ({
          messages: [],
        }),
      );
      mcp.registerResource("here", "memory://here", {}, () => ({ contents: [] }));
    },
  });
  const answers = [await post(server, { jsonrpc: "2.0", id: "x", method, params })];
  const isOld = method === "initialize" || "task" in (params ?? {});
  if (!isOld) answers.push(await postModern(server, method, params));
  for (const { json } of answers) {
    expect(json.error).toMatchObject({ code: -32602 });
    expect(json.error.message).toMatch(/^Invalid params: [\w.[\]()]+: [^{}\n]+\.$/);
  }
});

test("a tool without arguments may be called with null for them, in both eras", async () => {
  const server = await serveMcp();
  const params = { name: "whoami", arguments: null };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  for (const { json } of [
    await post(server, body),
    await postModern(server, "tools/call", params),
  ]) {
    expect(json.result.structuredContent).toEqual({ keyId: "key-1" });
  }
});

test("resources and prompts know their caller, and hide what went wrong inside", async () => {
  const server = await serveMcp({
    describe: (mcp, { view, shield }) => {
      mcp.registerResource(
        "thing",
        new ResourceTemplate("memory://things/{id}", { list: undefined }),
        {},
        shield(async (uri, { id }, context) => {
          if (id === "none") throw new AppError("NOT_FOUND", "No such thing.");
          if (id === "down") throw new AppError("UNAVAILABLE", "Away.", { hint: "Try again." });
          if (id === "bad") throw new Error("secret of Ana");
          const text = `${id} of ${principalOf(context).keyId}, a ${view.role}`;
          return { contents: [{ uri: uri.href, text }] };
        }),
      );
    },
  });
  const read = async (id: string) => {
    const params = { uri: `memory://things/${id}` };
    return (await post(server, { jsonrpc: "2.0", id: 1, method: "resources/read", params })).json;
  };
  expect((await read("1")).result.contents[0].text).toBe("1 of key-1, a member");
  expect((await read("none")).error).toEqual({
    code: -32602,
    message: "No such thing.",
    data: { code: "NOT_FOUND" },
  });
  expect((await read("down")).error).toEqual({
    code: -32000,
    message: "Away.",
    data: { code: "UNAVAILABLE", hint: "Try again." },
  });
  expect((await read("bad")).error).toEqual({ code: -32603, message: "Internal error" });
  expect(server.logs.filter(({ level }) => level === 50)).toHaveLength(1);
  expect(JSON.stringify(server.logs)).not.toContain("Ana");
});
