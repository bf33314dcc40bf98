import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryEvents } from "../../src/db/schema/facts.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn } from "./browser.ts";

const USER = "telegram:7";
const PAYLOAD = "x".repeat(60_000);

onBothDatabases((engine) => {
  let app: TestApp;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
    browser = await signedIn(app, await app.createKey({}, "acme"));
    const key = await app.createKey({}, "acme");
    const remember = (fact: object) =>
      app.ok("remember_fact", { scope: "user", userId: USER, ...fact }, key);
    await remember({ key: "a.text", value: 'ends with </script> "quoted" \u2028' });
    await remember({ key: "a.json", value: { b: [1, null], a: "10.5" } });
    const { factId } = await remember({ key: "a.away", value: "put away" });
    await browser.submit(`/ui/facts/${factId}`, { decision: "archive" });
    const { user } = await app.ok("get_user_context", { userId: USER }, key);
    url = `/ui/export?userId=${(user as { id: string }).id}`;
  });
  afterAll(() => app.dispose());

  test("an export is a file of JSON that holds every statement, decision and event", async () => {
    const { status, headers, html: text } = await browser.get(url);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["content-disposition"]).toMatch(
      /^attachment; filename="souvenir-user-[\w-]{36}\.json"$/,
    );
    const { sections } = JSON.parse(text);
    const values = sections.userFacts.map(({ key, value }: { key: string; value: unknown }) => [
      key,
      value,
    ]);
    expect(Object.fromEntries(values)).toEqual({
      "a.text": 'ends with </script> "quoted" \u2028',
      "a.json": { b: [1, null], a: "10.5" },
      "a.away": "put away",
    });
    expect(sections.decisions).toMatchObject([{ kind: "archive" }]);
    expect(sections.events.map(({ kind }: { kind: string }) => kind)).toContain("created");
  });

  test("as lines it is a file too", async () => {
    const { headers, html: text } = await browser.get(`${url}&format=ndjson`);
    expect(headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    expect(headers["content-disposition"]).toMatch(/\.ndjson"$/);
    expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ format: "souvenir-export" });
  });

  test("it is noted once, and not for a look at the headers", async () => {
    const noted = () =>
      app.database.transactions.system("operator", async (tx) => {
        const events = await tx.select().from(memoryEvents);
        return events.filter(({ kind }) => kind === "exported").length;
      });
    const before = await noted();
    await browser.get(url);
    expect(await noted()).toBe(before + 1);
    const head = await app.http.inject({
      method: "HEAD",
      url,
      headers: { host: "localhost", cookie: browser.cookie ?? "" },
    });
    expect(head.statusCode).toBe(404);
    expect(await noted()).toBe(before + 1);
  });

  test("a reader who leaves stops the reading, and its server goes on answering", async () => {
    const owner = await app.createKey({ role: "owner" }, "big");
    for (let n = 0; n < 20; n++)
      await app.ok("update_memory", { userId: `web:${n}`, key: "k", value: PAYLOAD }, owner);
    const reader = await signedIn(app, owner);
    const address = await app.http.listen({ host: "127.0.0.1", port: 0 });
    const leave = new AbortController();
    const response = await fetch(`${address}/ui/export?org=1`, {
      headers: { host: new URL(address).host, cookie: reader.cookie ?? "" },
      signal: leave.signal,
    });
    const stream = response.body?.getReader();
    expect((await stream?.read())?.value?.length).toBeGreaterThan(0);
    leave.abort();
    await stream?.closed.catch(() => {});
    expect((await reader.get("/ui")).status).toBe(200);
    expect(JSON.parse((await reader.get("/ui/export?org=1")).html).totals.entries).toBe(20);
  });
});
