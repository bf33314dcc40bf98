import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await openApp("embedded", { env: { RATE_LIMIT_PER_MINUTE: "40" } });
});
afterAll(() => app.dispose());

const ask = (
  method: "GET" | "HEAD" | "OPTIONS" | "PUT" | "POST" | "PATCH",
  url: string,
  more = {},
) => app.http.inject({ method, url, headers: { authorization: `Bearer ${OWNER_KEY}` }, ...more });

describe("faults are problem details with a code", () => {
  test("at an address where nothing is", async () => {
    const answer = await ask("GET", "/v1/nothing?token=abc");
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.json()).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      code: "NOT_FOUND",
      detail: "there is nothing at this address",
      instance: "/v1/nothing",
    });
  });

  test("of a method that the address does not take, which names those it takes", async () => {
    const answer = await ask("PUT", "/v1/facts/x");
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe("GET, PATCH, DELETE, HEAD, OPTIONS");
    expect(answer.json()).toMatchObject({ status: 405, code: "INVALID_INPUT" });
  });

  test("of a body too large, or of another media type", async () => {
    const headers = { authorization: `Bearer ${OWNER_KEY}`, "content-type": "application/json" };
    const large = await ask("POST", "/v1/facts", { headers, payload: `"${"x".repeat(1 << 21)}"` });
    expect(large.json()).toMatchObject({ status: 413, code: "LIMIT_EXCEEDED" });
    const xml = { ...headers, "content-type": "application/xml" };
    const other = await ask("POST", "/v1/facts", { headers: xml, payload: "<a/>" });
    expect(other.json()).toMatchObject({
      status: 415,
      hint: "Send Content-Type: application/json.",
    });
  });

  test("of a body that is missing, or has what nobody asked for", async () => {
    const missing = await ask("POST", "/v1/facts");
    expect(missing.json()).toMatchObject({ status: 400, detail: "the body is missing; send JSON" });
    const unknown = await ask("PATCH", "/v1/memory", { payload: { enable: true } });
    expect(unknown.json().detail).toContain('"enable"');
    expect((await ask("GET", "/v1/keys?all=1")).json().detail).toContain('"all"');
    const unwanted = await ask("POST", "/v1/deliveries/replay", { payload: { ids: [] } });
    expect(unwanted.json().detail).toContain('"ids"');
  });
});

test("HEAD is answered as GET, OPTIONS with the methods, and no page of another origin is let in", async () => {
  expect((await ask("HEAD", "/v1/keys")).statusCode).toBe(200);
  expect((await ask("HEAD", "/v1/export?org=1")).statusCode).toBe(405);
  const options = await ask("OPTIONS", "/v1/users/telegram:1/memory/a");
  expect([options.statusCode, options.headers.allow]).toEqual([
    204,
    "GET, PUT, DELETE, HEAD, OPTIONS",
  ]);
  expect(Object.keys(options.headers).filter((name) => name.startsWith("access-control"))).toEqual(
    [],
  );
});

test("a key over its budget is told when to come back", async () => {
  const key = await app.createKey();
  const headers = { authorization: `Bearer ${key}` };
  let answer = await ask("GET", "/v1/inbox", { headers });
  for (let call = 0; call < 40; call++) answer = await ask("GET", "/v1/inbox", { headers });
  expect(answer.json()).toMatchObject({ status: 429, code: "RATE_LIMITED" });
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
});
