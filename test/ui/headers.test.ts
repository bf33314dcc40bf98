import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { Browser, signedIn } from "./browser.ts";

const OURS = "localhost:3000";

let app: TestApp;
let browser: Browser;
let factId: string;
beforeAll(async () => {
  app = await openApp("embedded");
});
beforeEach(async () => {
  browser = await signedIn(app, OWNER_KEY);
  const fact = { scope: "org", key: "policy.returns", value: "30 days" };
  factId = String((await app.ok("remember_fact", fact)).factId);
});
afterAll(() => app.dispose());

test("no page may run a script but its own, be framed, be cached or send its forms elsewhere", async () => {
  const pages = ["/ui", "/ui/sign-in", "/ui/facts?scope=org", `/ui/facts/${factId}`];
  for (const url of [...pages, "/ui/nothing", "/ui/export?org=1", "/ui/facts?scope=x"]) {
    const { headers, html } = await browser.get(url);
    const policy = String(headers["content-security-policy"]);
    expect(policy.split("; ").sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src data:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
    });
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|\shx-on/);
    const scripts = html.match(/<script[^>]*>[^<]*/g) ?? [];
    for (const script of scripts) {
      expect(script).toMatch(/^<script src="\/ui\/script\.js\?v=[0-9a-f]{12}" defer>$/);
    }
  }
});

test("no browser takes an answer that is no page for one", async () => {
  for (const url of [
    "/ui/facts/%E0%A4%A",
    `/ui/facts/${"x".repeat(5_000)}`,
    "/nothing/%E0%A4%A",
    "/v1/%E0%A4%A",
    "/v1/docs?nothing=1",
    "/v1/docs/nothing",
    "/v1/openapi.json",
    "/v1/export?org=1",
    "/v1/keys",
  ]) {
    const { headers } = await browser.get(url, { authorization: `Bearer ${OWNER_KEY}` });
    expect([url, headers]).toMatchObject([
      url,
      {
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
      },
    ]);
  }
});

test("the style sheet is the page's own, needs no session and names its version", async () => {
  const { html } = await new Browser(app).get("/ui/sign-in");
  const [, address = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];
  const { status, headers, html: css } = await new Browser(app).get(address);
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("text/css; charset=utf-8");
  expect(headers["cache-control"]).toContain("immutable");
  expect(css).toContain("light-dark(");
  expect(css).not.toMatch(/@import|url\(/);
});

describe("a form", () => {
  const decide = (headers: Record<string, string>) =>
    browser.post(`/ui/facts/${factId}`, { decision: "pin" }, headers);
  const isPinned = async () => (await browser.get(`/ui/facts/${factId}`)).html.includes("Unpin");

  test.each([
    ["says nothing of where it comes from", {}],
    ["comes from another site", { origin: "https://evil.example" }],
    ["comes from another port of this machine", { origin: "http://localhost:9999" }],
    ["comes from nowhere", { origin: "null" }],
    [
      "is sent by another site, whatever its origin says",
      { "sec-fetch-site": "cross-site", origin: `http://${OURS}` },
    ],
    ["is sent by a sibling site", { "sec-fetch-site": "same-site", origin: `http://${OURS}` }],
    ["is sent by no page", { "sec-fetch-site": "none" }],
  ] as const)("that %s is refused and changes nothing", async (_, headers) => {
    expect((await decide(headers)).status).toBe(403);
    expect(await isPinned()).toBe(false);
    expect((await browser.post("/ui/sign-out", {}, headers)).status).toBe(403);
    expect((await browser.post("/ui/sign-in", { key: OWNER_KEY }, headers)).status).toBe(403);
    expect((await browser.get("/ui")).status).toBe(200);
  });

  test.each([
    ["its origin", { origin: `http://${OURS}` }],
    ["the browser's word", { "sec-fetch-site": "same-origin", origin: `http://${OURS}` }],
    ["the browser's word alone", { "sec-fetch-site": "same-origin" }],
  ] as const)("that is ours by %s is taken", async (_, headers) => {
    expect((await decide(headers)).status).toBe(303);
    expect(await isPinned()).toBe(true);
    await browser.submit(`/ui/facts/${factId}`, { decision: "unpin" });
  });

  test("by an address changes nothing: what changes something is no GET", async () => {
    for (const action of ["", "/edit", "/delete"]) {
      await browser.get(`/ui/facts/${factId}${action}?decision=archive&reason=x&value=x&kind=text`);
    }
    expect((await browser.get("/ui/sign-out")).status).toBe(404);
    const { html } = await browser.get(`/ui/facts/${factId}`);
    expect(html).toContain("30 days");
    expect(html).toContain("Put away");
  });

  test("that is no form, or too large, is answered as a page", async () => {
    const url = `/ui/facts/${factId}/edit`;
    const origin = `http://${OURS}`;
    const json = await browser.post(url, {}, { origin, "content-type": "application/json" });
    expect([json.status, json.headers["content-type"]]).toEqual([400, "text/html; charset=utf-8"]);
    const large = await browser.post(url, { value: "x".repeat(40_000), kind: "text" });
    expect(large.status).toBe(413);
    expect(large.html).toContain("too large");
  });
});

test("another host name is refused, for pages and for the style sheet", async () => {
  for (const url of ["/ui", "/ui/sign-in", "/ui/style.css"]) {
    const { status, html } = await browser.get(url, { host: "rebound.example" });
    expect(status).toBe(403);
    expect(html).toContain("ALLOWED_HOSTS");
  }
});
