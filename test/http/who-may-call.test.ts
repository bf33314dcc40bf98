import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";

interface Caller {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
}

/** Asks for the keys of the org. */
async function listKeys(app: TestApp, { key, headers = {}, url = "/v1/keys" }: Caller) {
  const response = await app.http.inject({
    url,
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  });
  return { status: response.statusCode, headers: response.headers, body: response.body };
}

describe("with keys", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp("embedded", {
      env: { RATE_LIMIT_PER_MINUTE: "9", ALLOWED_HOSTS: "Memory.example.com" },
    });
  });
  afterAll(() => app.dispose());

  test("no key and a wrong key are answered alike, with a challenge", async () => {
    const none = await listKeys(app, {});
    const wrong = await listKeys(app, { key: `${OWNER_KEY}x` });
    for (const { status, headers, body } of [none, wrong]) {
      expect(status).toBe(401);
      expect(headers["www-authenticate"]).toBe('Bearer realm="souvenir"');
      expect(body).toBe(none.body);
    }
  });

  test("a key counts in the Authorization header alone", async () => {
    for (const name of ["token", "key", "api_key", "access_token"]) {
      const url = `/v1/keys?${name}=${OWNER_KEY}`;
      expect((await listKeys(app, { url })).status).toBe(401);
    }
    expect((await listKeys(app, { headers: { "x-api-key": OWNER_KEY } })).status).toBe(401);
    const headers = { authorization: `bearer  ${OWNER_KEY}` };
    expect((await listKeys(app, { headers })).status).toBe(200);
  });

  test("an org is chosen by the key, and by name only on the operator's command line", async () => {
    const key = await app.createKey({ role: "owner" }, "acme");
    const ofAcme = await listKeys(app, { key, headers: { "x-souvenir-org": "default" } });
    expect(JSON.parse(ofAcme.body).keys).toHaveLength(1);
    expect(ofAcme.body).not.toContain("first owner key");
    const byOperator = await listKeys(app, {
      key: app.operatorToken,
      headers: { "x-souvenir-org": "acme" },
    });
    expect(byOperator.body).toBe(ofAcme.body);
  });

  test("a key over its budget is told when to come back, and no other key notices", async () => {
    const [busy, other] = [await app.createKey(), await app.createKey()];
    const list = (key: string) =>
      app.http.inject({
        method: "POST",
        url: "/mcp",
        headers: { authorization: `Bearer ${key}`, host: "localhost" },
        payload: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      });
    for (let call = 0; call < 9; call++) expect((await list(busy)).statusCode).toBe(200);
    const refused = await list(busy);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await listKeys(app, { key: busy })).status).toBe(429);
    expect((await list(other)).statusCode).toBe(200);
    expect((await app.http.inject("/readyz")).statusCode).toBe(200);
  });

  test("a name that the operator gave is served, another one is not", async () => {
    const from = (host: string) => listKeys(app, { key: OWNER_KEY, headers: { host } });
    expect((await from("127.0.0.1:3000")).status).toBe(200);
    expect((await from("memory.example.com")).status).toBe(200);
    expect((await from("memory.example.com")).status).toBe(200);
    expect((await from("evil.example")).status).toBe(403);
  });
});

describe("without keys, on loopback", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp("embedded", { env: { AUTH: "none" } });
  });
  afterAll(() => app.dispose());

  test("everybody on this machine is the owner", async () => {
    expect((await listKeys(app, {})).status).toBe(200);
    expect((await listKeys(app, { headers: { origin: "http://localhost:5173" } })).status).toBe(
      200,
    );
  });

  test("a page in the browser cannot make itself a key by a name or an origin of its own", async () => {
    for (const headers of [{ host: "evil.example:3000" }, { origin: "https://evil.example" }]) {
      for (const url of ["/v1/keys", "/mcp"]) {
        const made = await app.http.inject({
          method: "POST",
          url,
          headers,
          payload: { name: "mine", role: "owner" },
        });
        expect(made.statusCode, url).toBe(403);
      }
    }
    expect(JSON.parse((await listKeys(app, {})).body).keys).toHaveLength(1);
  });
});
