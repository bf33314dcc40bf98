import { expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import { INITIALIZE, post, postModern, serveMcp } from "./mcp-under-test.ts";

const LIST = { jsonrpc: "2.0", id: 3, method: "tools/list" };

test.each([
  undefined,
  "",
  "*/*",
  "application/*",
  "application/json",
  "Text/Event-Stream;q=0.9, APPLICATION/JSON",
])("a client that sends Accept: %s gets JSON", async (accept) => {
  const server = await serveMcp();
  const type = "application/json; charset=UTF-8";
  const { status, headers, json } = await post(server, INITIALIZE, {
    accept,
    "content-type": type,
  });
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(json.result.protocolVersion).toBe("2025-06-18");
});

test("a client that cannot read JSON is told what to accept", async () => {
  const server = await serveMcp();
  for (const accept of ["text/html", "text/event-stream"]) {
    const { status, json } = await post(server, INITIALIZE, { accept });
    expect(status).toBe(406);
    expect(json.error.message).toContain("application/json");
  }
});

test("a version from the future is negotiated down to the newest known", async () => {
  const server = await serveMcp();
  const params = { ...INITIALIZE.params, protocolVersion: "2099-01-01" };
  const { status, json } = await post(
    server,
    { ...INITIALIZE, params },
    { "mcp-protocol-version": "2099-01-01" },
  );
  expect(status).toBe(200);
  expect(json.result.protocolVersion).toBe("2025-11-25");
});

test("a handshake is negotiated whatever revision its header and its body name", async () => {
  const server = await serveMcp();
  const agreed = async (header: string | undefined, named: string) => {
    const params = { ...INITIALIZE.params, protocolVersion: named };
    const headers = { "mcp-protocol-version": header };
    const { status, json } = await post(server, { ...INITIALIZE, params }, headers);
    return [status, json.result?.protocolVersion];
  };
  for (const header of [undefined, "", "2026-07-28", "2099-01-01", "2025-06-18", "draft"]) {
    expect(await agreed(header, "2026-07-28"), header).toEqual([200, "2025-11-25"]);
    expect(await agreed(header, "2024-11-05"), header).toEqual([200, "2024-11-05"]);
  }
});

test("after the handshake an unknown version is refused with the id and the known ones", async () => {
  const server = await serveMcp();
  const { status, json } = await post(server, LIST, { "mcp-protocol-version": "1999-01-01" });
  expect([status, json.id, json.error.code]).toEqual([400, 3, -32000]);
  expect(json.error.message).toContain("2025-11-25");
  for (const version of ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    expect((await post(server, LIST, { "mcp-protocol-version": version })).status).toBe(200);
  }
});

test("session ids are ignored, known or not, and none is given out", async () => {
  const server = await serveMcp();
  const session = { "mcp-session-id": "00000000-0000-4000-8000-000000000000" };
  const first = await post(server, INITIALIZE, session);
  const second = await post(server, LIST, session);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(first.headers["mcp-session-id"]).toBeUndefined();
});

test("notifications and responses are answered 202 with nothing", async () => {
  const server = await serveMcp();
  for (const body of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } },
    { jsonrpc: "2.0", id: 1, result: {} },
    [{ jsonrpc: "2.0", method: "notifications/initialized" }],
  ]) {
    const { status, text } = await post(server, body);
    expect([status, text]).toEqual([202, ""]);
  }
});

test.each(["GET", "DELETE", "PUT", "PATCH", "OPTIONS"] as const)(
  "%s is not allowed",
  async (method) => {
    const { app } = await serveMcp();
    for (const url of ["/mcp", "/mcp/"]) {
      const { statusCode, headers, payload } = await app.inject({
        method,
        url,
        headers: { "content-type": "application/json", "mcp-session-id": "s" },
      });
      expect([statusCode, headers.allow]).toEqual([405, "POST"]);
      expect(JSON.parse(payload)).toMatchObject({
        jsonrpc: "2.0",
        error: { code: -32000 },
        id: null,
      });
    }
  },
);

test("a trailing slash and a query are served without a redirect", async () => {
  const server = await serveMcp();
  for (const url of ["/mcp/", "/mcp?x=1", "/mcp/?x=1"]) {
    expect((await post(server, INITIALIZE, {}, url)).status).toBe(200);
  }
});

test("only loopback and listed hosts and origins are served", async () => {
  const server = await serveMcp({ allowedHosts: ["Memory.example"] });
  const status = async (headers: Record<string, string>) =>
    (await post(server, INITIALIZE, headers)).status;
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ host: "localhost.evil.example" })).toBe(403);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
  expect(await status({ origin: "null" })).toBe(403);
  expect(await status({ origin: "http://localhost:6274" })).toBe(200);
  expect(await status({ host: "[::1]:3000" })).toBe(200);
  expect(await status({ host: "127.0.0.1:3000" })).toBe(200);
  expect(await status({ host: "memory.example:3000", origin: "https://memory.example" })).toBe(200);
});

test("the host check leaves the other routes of the app alone", async () => {
  const { app } = await serveMcp();
  const { statusCode } = await app.inject({ url: "/elsewhere", headers: { host: "evil.example" } });
  expect(statusCode).toBe(404);
});

test("without a valid credential nothing is read, whatever else is sent", async () => {
  const server = await serveMcp();
  const status = async (
    headers: Record<string, string | undefined>,
    url?: string,
    body: unknown = LIST,
  ) => (await post(server, body, headers, url)).status;
  expect(await status({ authorization: "bearer key-1" })).toBe(200);
  expect(await status({ authorization: "BEARER key-1" })).toBe(200);
  expect(await status({ authorization: "key-1" })).toBe(401);
  expect(await status({ authorization: undefined }, "/mcp?token=key-1")).toBe(401);
  expect(await status({ authorization: undefined }, "/mcp?access_token=key-1")).toBe(401);
  expect(await status({ authorization: undefined, "mcp-session-id": "key-1" })).toBe(401);
  expect(await status({ authorization: undefined }, "/mcp", "{not even JSON")).toBe(401);
  const { headers, json } = await post(server, LIST, { authorization: undefined });
  expect(headers["www-authenticate"]).toBe('Bearer realm="souvenir"');
  expect(json).toMatchObject({ jsonrpc: "2.0", error: { code: -32000 }, id: null });
});

test("a failure while checking the credential is answered in JSON-RPC, with a code to act on", async () => {
  const down = await serveMcp({
    authenticate: async () => {
      throw new AppError("UNAVAILABLE", "The database is not reachable.", { hint: "Try again." });
    },
  });
  const call = { name: "keep", arguments: { userId: "u", value: 1 } };
  for (const [method, params] of [
    ["tools/list", {}],
    ["tools/call", call],
    ["resources/read", { uri: "memory://rules" }],
  ] as const) {
    for (const answer of [
      await post(down, { jsonrpc: "2.0", id: 1, method, params }),
      await postModern(down, method, params),
    ]) {
      expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "5"]);
      expect(answer.json.error).toEqual({
        code: -32000,
        message: "The database is not reachable.",
        data: { code: "UNAVAILABLE", hint: "Try again." },
      });
    }
  }
  const broken = await serveMcp({
    authenticate: async () => {
      throw new Error("password authentication failed for user postgres");
    },
  });
  const internal = await post(broken, LIST);
  expect(internal.status).toBe(500);
  expect(internal.json).toEqual({
    jsonrpc: "2.0",
    error: { code: -32603, message: "Internal error" },
    id: null,
  });
  expect(JSON.stringify(broken.logs)).not.toContain("postgres");
  expect(broken.logs.filter(({ level }) => level === 50)).toHaveLength(1);
});

test("a caller over the limit is told when to come back, before anything is read", async () => {
  const charged: [string, number][] = [];
  const server = await serveMcp({
    charge: async ({ keyId }, messages) => {
      charged.push([keyId, messages]);
      return keyId === "key-2" ? { retryAfterSeconds: 1.2 } : undefined;
    },
  });
  const limited = await post(server, "{not even JSON", {
    authorization: "Bearer key-2",
    "x-forwarded-for": "10.0.0.1",
  });
  expect([limited.status, limited.headers["retry-after"]]).toEqual([429, "2"]);
  expect(limited.json).toMatchObject({ jsonrpc: "2.0", error: { code: -32000 }, id: null });
  expect((await post(server, LIST)).status).toBe(200);
  expect(charged).toEqual([
    ["key-2", 1],
    ["key-1", 1],
  ]);
});

test("a batch is charged by its messages", async () => {
  let left = 3;
  const server = await serveMcp({
    charge: async (_principal, messages) => {
      left -= messages;
      return left < 0 ? { retryAfterSeconds: 30 } : undefined;
    },
  });
  const batch = (length: number) => Array.from({ length }, (_, id) => ({ ...LIST, id }));
  const first = await post(server, batch(3));
  expect(first.json.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2]);
  left = 3;
  const second = await post(server, batch(4));
  expect([second.status, second.headers["retry-after"]]).toEqual([429, "30"]);
});

test("a batch runs in its order and may not be endless, hold a handshake or a modern request", async () => {
  const server = await serveMcp();
  const { json } = await post(server, [
    { jsonrpc: "2.0", id: "a", method: "ping" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "nope" } },
    { jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "whoami" } },
  ]);
  expect(json).toMatchObject([
    { id: "a", result: {} },
    { id: "b", error: { code: -32602 } },
    { id: "c", result: { structuredContent: { keyId: "key-1" } } },
  ]);
  const refused = async (body: unknown) => {
    const { status, json: answer } = await post(server, body);
    return [status, answer.error.code, answer.id];
  };
  expect(await refused(Array.from({ length: 101 }, () => LIST))).toEqual([400, -32600, null]);
  expect(await refused([INITIALIZE])).toEqual([400, -32600, null]);
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  expect(await refused([{ ...LIST, params: { _meta } }])).toEqual([400, -32600, null]);
});

test("the newest revision needs no handshake and says how long a list may be kept", async () => {
  const server = await serveMcp();
  const discovered = await postModern(server, "server/discover");
  expect(discovered.json.result).toMatchObject({
    supportedVersions: ["2026-07-28"],
    instructions: "Recall first.",
    ttlMs: 3_600_000,
    cacheScope: "private",
  });
  const listed = await postModern(server, "tools/list");
  expect(listed.json.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: "private" });
  expect((await post(server, INITIALIZE)).json.result.instructions).toBe("Recall first.");
});
