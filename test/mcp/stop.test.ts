import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/mcp/tool.ts";
import { call, keep, type McpUnderTest, postModern, REVISION, serveMcp } from "./mcp-under-test.ts";

const MODERN = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "probe", version: "0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};

/** A tool that runs until the test lets it end or its caller goes. */
function waiting() {
  const started = Promise.withResolvers<AbortSignal>();
  const end = Promise.withResolvers<void>();
  const tool: Tool = defineTool({
    ...keep,
    name: "wait",
    input: z.strictObject({}),
    output: z.strictObject({ done: z.boolean() }),
    async handle(_input, { signal }) {
      started.resolve(signal);
      const aborted = once(signal, "abort");
      await Promise.race([end.promise, aborted]);
      signal.throwIfAborted();
      return { done: true };
    },
  });
  return { tool, started: started.promise, end: end.resolve };
}

async function send(
  port: number,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<{ sent: ClientRequest; answered: Promise<IncomingMessage> }> {
  const modern = "_meta" in params;
  const sent = request({
    host: "127.0.0.1",
    port,
    path: "/mcp",
    method: "POST",
    agent: false,
    headers: {
      authorization: "Bearer key-1",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(modern && { "mcp-protocol-version": REVISION, "mcp-method": method }),
      ...(modern && typeof params.name === "string" && { "mcp-name": params.name }),
    },
  });
  const answered = once(sent, "response").then(([response]) => response as IncomingMessage);
  answered.catch(() => undefined);
  sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  return { sent, answered };
}

/** Begins to close the app; goes on when only running requests keep it from being closed. */
async function stop({ app }: McpUnderTest): Promise<{ closed: Promise<unknown> }> {
  const closed = app.close();
  // Not polled by vitest, which would move a faked clock.
  while (app.server.listening) await setImmediate();
  return { closed };
}

async function listen({ app }: McpUnderTest): Promise<number> {
  return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
}

test.each([{}, MODERN])("a client that leaves aborts its call and disturbs nobody", async (era) => {
  const { tool, started } = waiting();
  const server = await serveMcp({ tools: [tool, keep] });
  const { sent } = await send(await listen(server), "tools/call", { name: "wait", ...era });
  const signal = await started;
  expect(signal.aborted).toBe(false);
  sent.destroy();
  await expect.poll(() => signal.aborted).toBe(true);
  const { json } = await call(server, "keep", { userId: "u", value: 1 });
  expect(json.result.structuredContent.value).toBe(1);
  expect(server.logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

test.each([{}, MODERN])("a handler that notifies turns its answer into a stream", async (era) => {
  const server = await serveMcp({
    tools: [],
    describe: (mcp) => {
      mcp.registerTool("count", {}, async ({ mcpReq }) => {
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: "p", progress: 1 },
        });
        return { content: [] };
      });
    },
  });
  const { answered } = await send(await listen(server), "tools/call", { name: "count", ...era });
  const response = await answered;
  expect(response.headers["content-type"]).toBe("text/event-stream");
  expect(response.headers["cache-control"]).toContain("no-transform");
  const events = (await text(response)).split("\n\n").filter((event) => event !== "");
  expect(
    events.map((event) => JSON.parse(event.replace(/^event: message\ndata: /, ""))),
  ).toMatchObject([{ method: "notifications/progress" }, { id: 1, result: { content: [] } }]);
});

test.each([{}, MODERN])("a stop lets the running call end and answers it", async (era) => {
  const { tool, started, end } = waiting();
  const server = await serveMcp({ tools: [tool] });
  const { answered } = await send(await listen(server), "tools/call", { name: "wait", ...era });
  const signal = await started;
  const { closed } = await stop(server);
  expect(signal.aborted).toBe(false);
  end();
  expect(JSON.parse(await text(await answered)).result.structuredContent).toEqual({ done: true });
  await closed;
});

test.each([{}, MODERN])("a stop aborts a call that does not end in time", async (era) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { tool, started } = waiting();
  const server = await serveMcp({ tools: [tool] });
  const { answered } = await send(await listen(server), "tools/call", { name: "wait", ...era });
  const signal = await started;
  const { closed } = await stop(server);
  vi.advanceTimersByTime(4_999);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  const response = await answered;
  expect(response.statusCode).toBe(503);
  expect(response.headers["retry-after"]).toBe("5");
  expect(JSON.parse(await text(response)).error.message).toContain("stopping");
  await closed;
});

test.each([{}, MODERN])("a stop ends a stream that does not end in time", async (era) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await serveMcp({
    tools: [],
    describe: (mcp) => {
      mcp.registerTool("hang", {}, async ({ mcpReq }) => {
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: "p", progress: 1 },
        });
        await once(mcpReq.signal, "abort");
        return { content: [] };
      });
    },
  });
  const { answered } = await send(await listen(server), "tools/call", { name: "hang", ...era });
  const stream = await answered;
  const { closed } = await stop(server);
  vi.advanceTimersByTime(5_000);
  expect(await text(stream)).toContain("notifications/progress");
  await closed;
});

test("nobody is made to wait for changes that never come", async () => {
  const server = await serveMcp({
    describe: (mcp) => {
      mcp.registerPrompt("hello", {}, () => ({ messages: [] }));
      mcp.registerResource("here", "memory://here", {}, () => ({ contents: [] }));
    },
  });
  const { json } = await postModern(server, "server/discover");
  expect(json.result.capabilities).toMatchObject({
    tools: { listChanged: false },
    prompts: { listChanged: false },
    resources: { listChanged: false },
  });
  const { answered } = await send(await listen(server), "subscriptions/listen", {
    notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    ...MODERN,
  });
  expect(await text(await answered)).toContain('"resultType":"complete"');
});
