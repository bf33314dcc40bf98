import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import { call, type McpUnderTest, post, postModern, serveMcp } from "./mcp-under-test.ts";

const requestInit = { headers: { authorization: "Bearer key-1" } };

async function listen({ app }: McpUnderTest): Promise<URL> {
  return new URL("/mcp", await app.listen({ host: "127.0.0.1", port: 0 }));
}

test("fifty clients of the 2025 revisions connect, list, call and leave without a trace", async () => {
  const server = await serveMcp();
  const url = await listen(server);
  for (let round = 0; round < 50; round++) {
    const client = new Client({ name: "probe", version: "0" });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(4);
    for (let turn = 0; turn < 4; turn++) {
      const { structuredContent } = await client.callTool({
        name: "keep",
        arguments: { userId: "u", value: { round, turn } },
      });
      expect(structuredContent).toEqual({ userId: "u", value: { round, turn }, limit: 50 });
    }
    const failed = await client.callTool({ name: "fail", arguments: { how: "unexpected" } });
    expect(failed.isError).toBe(true);
    await client.close();
  }
  const errors = server.logs.filter(({ level }) => Number(level) >= 40);
  expect(errors).toHaveLength(50);
  expect(new Set(errors.map(({ msg }) => msg))).toEqual(new Set(["mcp: unexpected failure"]));
});

test("a client of the newest revision lists and calls", async () => {
  const url = await listen(await serveMcp());
  const client = new ModernClient(
    { name: "probe", version: "0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(new ModernTransport(url, { requestInit }));
  expect(client.getInstructions()).toBe("Recall first.");
  expect((await client.listTools()).tools).toHaveLength(4);
  const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} });
  expect(structuredContent).toEqual({ keyId: "key-1" });
  await client.close();
});

test("equal request ids of different callers never cross", async () => {
  const server = await serveMcp();
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const keyId = `key-${index}`;
      const { json } = await call(server, "whoami", {}, { authorization: `Bearer ${keyId}` });
      return json.id === 7 && json.result.structuredContent.keyId === keyId;
    }),
  );
  expect(answers.filter(Boolean)).toHaveLength(200);
});

test("a progress token alone does not turn an answer into a stream", async () => {
  const server = await serveMcp();
  const _meta = { progressToken: 1 };
  const params = { name: "whoami", arguments: {}, _meta };
  const legacy = await post(server, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const modern = await postModern(server, "tools/call", params);
  for (const { headers, json } of [legacy, modern]) {
    expect(headers["content-type"]).toMatch(/^application\/json/);
    expect(json.result.structuredContent).toEqual({ keyId: "key-1" });
  }
});
