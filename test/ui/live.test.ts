import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { Browser, signedIn } from "./browser.ts";

const LIVE = { "hx-request": "true" };

let app: TestApp;
beforeAll(async () => {
  app = await openApp("embedded");
});
afterAll(() => app.dispose());

test("the script is the page's own, is told in no page that nobody signed in to, and names its version", async () => {
  const browser = new Browser(app);
  expect((await browser.get("/ui/sign-in")).html).not.toContain("<script");
  const { html } = await (await signedIn(app, OWNER_KEY)).get("/ui");
  const [, address = ""] = /<script src="([^"]+)"/.exec(html) ?? [];
  const { status, headers, html: script } = await browser.get(address);
  expect([status, headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
  expect(headers["cache-control"]).toContain("immutable");
  expect(script).toContain("htmx");
});

test("a part of a page is found in the answer of the page's own address", async () => {
  const browser = await signedIn(app, OWNER_KEY);
  const { html } = await browser.get("/ui/facts?scope=org", LIVE);
  expect(html).toContain('id="list"');
  expect(html).toContain('hx-select="#list"');
});

test("what fails while a part is asked for takes the place of the whole, and is never an empty part", async () => {
  const browser = await signedIn(app, OWNER_KEY);
  const whole = { "hx-retarget": "#main", "hx-reselect": "#main", "hx-reswap": "outerHTML" };
  for (const url of ["/ui/facts?scope=moon", "/ui/nothing"]) {
    const { status, headers, html } = await browser.get(url, LIVE);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers).toMatchObject(whole);
    expect(html).toContain('id="main"');
    expect((await browser.get(url)).headers).not.toHaveProperty("hx-retarget");
  }
});

test("a session that is over leads the whole browser to the sign-in page", async () => {
  const browser = await signedIn(app, OWNER_KEY);
  const { cookie } = browser;
  await browser.post("/ui/sign-out");
  browser.cookie = cookie;
  const { status, headers, location } = await browser.get("/ui/facts?scope=org", LIVE);
  expect(status).toBe(401);
  expect(headers["hx-redirect"]).toBe("/ui/sign-in?over=1");
  expect(location).toBeUndefined();
});
