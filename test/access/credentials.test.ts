import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearerToken, hashKey, newKey } from "../../src/access/key.ts";
import { readConfig } from "../../src/config.ts";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { oneEngine } from "./one-engine.ts";

describe("the Authorization header", () => {
  test("carries a key after the scheme's name in any case, and nothing else counts", () => {
    for (const header of [
      "Bearer k",
      "bearer k",
      "BEARER k",
      "bEaReR   k ",
      "Bearer\tk",
      "Bearer \tk\t",
    ]) {
      expect(bearerToken(header)).toBe("k");
    }
    for (const header of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Bearerk",
      "Basic k",
      "k",
      " Bearer k",
      "Bearer k k",
      "Bearer k\tk",
      "Bearer\nk",
      "Bearer k, Bearer k",
      `Bearer ${"k".repeat(513)}`,
    ]) {
      expect(bearerToken(header)).toBeUndefined();
    }
  });

  test("gives back every key that the server makes, and never throws", () => {
    for (let i = 0; i < 100; i++) {
      const key = newKey();
      expect(bearerToken(`Bearer ${key}`)).toBe(key);
      expect(hashKey(key)).toMatch(/^[0-9a-f]{64}$/);
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (header) => {
        const token = bearerToken(header);
        expect(token === undefined || header.includes(token)).toBe(true);
      }),
    );
  });
});

describe("at the door", () => {
  const log: string[] = [];
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(oneEngine(), {
      env: { LOG_LEVEL: "debug" },
      logStream: { write: (line) => log.push(line) },
    });
  });
  afterAll(() => app.dispose());

  const post = async (
    headers: object,
    url = "/mcp",
    method: "POST" | "GET" | "DELETE" = "POST",
  ) => {
    const initialize = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "probe", version: "0" },
    };
    return app.http.inject({
      method,
      url,
      headers: {
        host: "localhost",
        accept: "application/json, text/event-stream",
        ...(method === "POST" && { "content-type": "application/json" }),
        ...headers,
      },
      ...(method === "POST" && {
        payload: { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
      }),
    });
  };
  const statusOf = async (...args: Parameters<typeof post>) => (await post(...args)).statusCode;

  test("the scheme's name may be in any case, the key may not", async () => {
    expect(await statusOf({ authorization: `bearer ${OWNER_KEY}` })).toBe(200);
    expect(await statusOf({ authorization: `BEARER ${OWNER_KEY}` })).toBe(200);
    expect(await statusOf({ authorization: `Bearer ${OWNER_KEY.toUpperCase()}` })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${OWNER_KEY} ` })).toBe(200);
    expect(await statusOf({ authorization: `Bearer ${hashKey(OWNER_KEY)}` })).toBe(401);
    expect(await statusOf({ authorization: OWNER_KEY })).toBe(401);
  });

  test("a key anywhere but in that header is no key, and is not logged", async () => {
    const places: [headers: object, url?: string][] = [
      [{}, `/mcp?token=${OWNER_KEY}`],
      [{}, `/mcp?access_token=${OWNER_KEY}`],
      [{}, `/mcp?api_key=${OWNER_KEY}&authorization=Bearer%20${OWNER_KEY}`],
      [{ cookie: `key=${OWNER_KEY}; authorization=Bearer ${OWNER_KEY}` }],
      [{ "x-api-key": OWNER_KEY }],
      [{ "x-authorization": `Bearer ${OWNER_KEY}` }],
      [{ "proxy-authorization": `Bearer ${OWNER_KEY}` }],
      [{ authorization: `Basic ${Buffer.from(`key:${OWNER_KEY}`).toString("base64")}` }],
      [{}, `/v1/keys?token=${OWNER_KEY}`],
    ];
    for (const [headers, url = "/mcp"] of places) {
      const method = url.startsWith("/v1") ? "GET" : "POST";
      expect([url, headers, await statusOf(headers, url, method)]).toEqual([url, headers, 401]);
    }
    await statusOf({ authorization: `Bearer ${OWNER_KEY}` });
    expect(log.length).toBeGreaterThan(10);
    const logged = log.join("");
    expect(logged).not.toContain(OWNER_KEY);
    expect(logged).not.toContain(Buffer.from(`key:${OWNER_KEY}`).toString("base64"));
  });

  test("a session id is worth nothing: each request stands on its own key", async () => {
    const session = { "mcp-session-id": "session-of-somebody" };
    const first = await post({ authorization: `Bearer ${OWNER_KEY}`, ...session });
    expect(first.statusCode).toBe(200);
    expect(first.headers["mcp-session-id"]).toBeUndefined();
    expect(await statusOf(session)).toBe(401);
    const stranger = { authorization: "Bearer svr_of-another-tenant", ...session };
    expect(await statusOf(stranger)).toBe(401);
    for (const method of ["GET", "DELETE"] as const) {
      const answer = await post(
        { authorization: `Bearer ${OWNER_KEY}`, ...session },
        "/mcp",
        method,
      );
      expect(answer.statusCode).toBe(405);
      expect(answer.headers.allow).toBe("POST");
    }
    expect(await statusOf({ authorization: `Bearer ${OWNER_KEY}`, ...session })).toBe(200);
  });
});

describe("AUTH=none", () => {
  test("is refused at the start unless the server listens on loopback only", () => {
    for (const HOST of ["0.0.0.0", "::", "192.168.1.10", "example.com", "localhost.example.com"]) {
      expect(() => readConfig({ AUTH: "none", HOST })).toThrow(/AUTH: none is allowed only/);
    }
    for (const HOST of ["127.0.0.1", "::1", "localhost"]) {
      expect(readConfig({ AUTH: "none", HOST }).AUTH).toBe("none");
    }
    expect(readConfig({ AUTH: "none" }).HOST).toBe("127.0.0.1");
    expect(readConfig({}).AUTH).toBe("keys");
  });

  test("makes everybody who sends no key the owner of the default org, and of no other", async () => {
    const open = await openApp(oneEngine(), { env: { AUTH: "none" } });
    const send = (method: "GET" | "POST", url: string, headers: object = {}, payload?: object) =>
      open.http.inject({
        method,
        url,
        headers: { host: "localhost", ...headers },
        ...(payload && { payload }),
      });
    await open.createKey({}, "other");
    const made = await send("POST", "/v1/stores", {}, { slug: "mine" });
    expect(made.statusCode).toBe(201);
    expect((await open.v1("GET", "/v1/stores")).body).toMatchObject({ stores: [{ slug: "mine" }] });
    const elsewhere = await send("GET", "/v1/stores", { "x-souvenir-org": "other" });
    expect(elsewhere.json()).toMatchObject({ stores: [{ slug: "mine" }] });
    expect((await send("GET", "/v1/orgs")).statusCode).toBe(403);
    const wrongKey = await send("GET", "/v1/stores", { authorization: "Bearer svr_wrong" });
    expect(wrongKey.statusCode).toBe(401);
    await open.dispose();
  });
});
