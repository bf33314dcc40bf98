import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { Browser, signedIn } from "./browser.ts";

const HOUR = 3_600_000;

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
  });
  afterAll(() => app.dispose());

  test("a key opens the page, by a cookie that no script and no other site can use", async () => {
    const browser = new Browser(app);
    expect((await browser.get("/ui")).location).toBe("/ui/sign-in");
    expect((await browser.get("/ui/sign-in")).html).toContain('type="password"');
    const answer = await browser.signIn(` ${OWNER_KEY} `);
    expect(answer).toMatchObject({ status: 303, location: "/ui" });
    const cookie = String(answer.headers["set-cookie"]);
    expect(cookie).toMatch(
      /^souvenir_session=[\w-]{43}; Path=\/ui; Expires=.*; HttpOnly; SameSite=Strict$/,
    );
    const page = await browser.get("/ui");
    expect(page.status).toBe(200);
    expect(page.html + cookie).not.toContain(OWNER_KEY);
    expect((await browser.get("/ui/sign-in")).location).toBe("/ui");
  });

  test("the cookie is for TLS alone where the browser came by TLS", async () => {
    const answer = await new Browser(app).post(
      "/ui/sign-in",
      { key: OWNER_KEY },
      { origin: "https://localhost:3000" },
    );
    expect(String(answer.headers["set-cookie"])).toMatch(
      /^__Host-souvenir_session=[\w-]{43}; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Strict$/,
    );
    const browser = new Browser(app);
    browser.cookie = String(answer.headers["set-cookie"]).split(";")[0];
    expect((await browser.get("/ui")).status).toBe(200);
    const planted = "souvenir_session=of-a-neighbour";
    browser.cookie = `${planted}; ${browser.cookie}`;
    expect((await browser.get("/ui")).status).toBe(200);
  });

  test("signing in never takes up a session that is there: it makes another one and ends that", async () => {
    const browser = await signedIn(app, OWNER_KEY);
    const { cookie: first } = browser;
    await browser.signIn(OWNER_KEY);
    expect(browser.cookie).not.toBe(first);
    const victim = new Browser(app);
    victim.cookie = "souvenir_session=planted-before-signing-in";
    await victim.signIn(OWNER_KEY);
    expect(victim.cookie).not.toContain("planted");
    victim.cookie = first;
    expect((await victim.get("/ui")).location).toBe("/ui/sign-in?over=1");
  });

  test("a wrong key is refused, in words and without a cookie", async () => {
    const browser = new Browser(app);
    for (const key of ["svr_wrong", "", `${OWNER_KEY}x`]) {
      const { status, html, headers } = await browser.signIn(key);
      expect(status).toBe(401);
      expect(html).toContain("No key like this is valid here");
      if (key) expect(html).not.toContain(key);
      expect(headers["set-cookie"]).toBeUndefined();
    }
    expect((await browser.signIn("k".repeat(600))).status).toBe(400);
    expect((await browser.post("/ui/sign-in", {})).status).toBe(400);
  });

  test("the key of a request's header opens nothing: only the cookie does", async () => {
    const authorization = `Bearer ${OWNER_KEY}`;
    expect((await new Browser(app).get("/ui", { authorization })).location).toBe("/ui/sign-in");
  });

  test("signing out ends the session itself, not only the cookie", async () => {
    const browser = await signedIn(app, OWNER_KEY);
    const { cookie } = browser;
    expect((await browser.post("/ui/sign-out")).location).toBe("/ui/sign-in");
    expect(browser.cookie).toBe("souvenir_session=");
    browser.cookie = cookie;
    expect((await browser.get("/ui")).location).toBe("/ui/sign-in?over=1");
  });

  test("a revoked key and the end of 12 hours lead back to the sign-in page, which says so", async () => {
    const { body } = await app.v1("POST", "/v1/keys", { name: "soon revoked" });
    const { key, info } = body as { key: string; info: { id: string } };
    const [revoked, late] = [await signedIn(app, key), await signedIn(app, OWNER_KEY)];
    await app.v1("DELETE", `/v1/keys/${info.id}`);
    const { location } = await revoked.get("/ui");
    expect(location).toBe("/ui/sign-in?over=1");
    expect((await revoked.get(String(location))).html).toContain("You were signed out");
    for (let hours = 0; hours < 11; hours++) {
      expect((await late.get("/ui")).status).toBe(200);
      clock.advance(HOUR);
    }
    expect((await late.get("/ui")).status).toBe(200);
    clock.advance(HOUR);
    expect((await late.get("/ui")).location).toBe("/ui/sign-in?over=1");
  });

  test("a browser that nobody uses for two hours is signed out; each use begins them anew", async () => {
    const browser = await signedIn(app, OWNER_KEY);
    for (let uses = 0; uses < 3; uses++) {
      clock.advance(2 * HOUR - 1);
      expect((await browser.get("/ui")).status).toBe(200);
    }
    clock.advance(2 * HOUR);
    expect((await browser.get("/ui")).location).toBe("/ui/sign-in?over=1");
  });
});

describe("the door of the page", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp("embedded", { clock: new TestClock().now });
  });
  afterAll(() => app.dispose());

  test("counts attempts by address and lets nobody try keys without end", async () => {
    const browser = new Browser(app);
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) statuses.push((await browser.signIn("svr_guess")).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    const refused = await browser.signIn(OWNER_KEY);
    expect([statuses[20], refused.status]).toEqual([429, 429]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.html).toContain("Too often");
  });

  test("lets nobody go on trying from ever new addresses", async () => {
    const clear = await openApp("embedded");
    const tryFrom = (remoteAddress: string, key: string) =>
      clear.http.inject({
        method: "POST",
        url: "/ui/sign-in",
        remoteAddress,
        headers: {
          "sec-fetch-site": "same-origin",
          "content-type": "application/x-www-form-urlencoded",
          host: "localhost:3000",
        },
        payload: `key=${key}`,
      });
    try {
      const statuses = new Set<number>();
      for (let n = 0; n < 21; n++) {
        statuses.add((await tryFrom(`2001:db8:1:2::${n}`, "svr_guess")).statusCode);
      }
      expect([...statuses]).toEqual([401, 429]);
      for (let n = 0; n < 290; n++) await tryFrom(`10.${n >> 8}.${n & 255}.1`, "svr_guess");
      expect((await tryFrom("10.9.0.1", OWNER_KEY)).statusCode).toBe(429);
    } finally {
      await clear.dispose();
    }
  });

  test("charges a signed-in person's key like its other calls", async () => {
    const limited = await openApp("embedded", { env: { RATE_LIMIT_PER_MINUTE: "3" } });
    try {
      const browser = await signedIn(limited, OWNER_KEY);
      for (let n = 0; n < 3; n++) expect((await browser.get("/ui")).status).toBe(200);
      expect((await browser.get("/ui")).status).toBe(429);
    } finally {
      await limited.dispose();
    }
  });

  test("is open without a key where AUTH=none, and nowhere asks for one", async () => {
    const open = await openApp("embedded", { env: { AUTH: "none" } });
    try {
      const browser = new Browser(open);
      const page = await browser.get("/ui");
      expect(page.status).toBe(200);
      expect(page.html).not.toContain("Sign out");
      expect((await browser.get("/ui/sign-in")).location).toBe("/ui");
      expect((await browser.get("/ui", { host: "rebound.example" })).status).toBe(403);
    } finally {
      await open.dispose();
    }
  });
});
