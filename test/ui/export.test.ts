import { afterAll, beforeAll, expect, test } from "vitest";
import { factTables, memoryEvents } from "../../src/db/schema/facts.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn } from "./browser.ts";

const USER = "telegram:7";

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
    await remember({ key: "a.weak", value: "hardly known", confidence: 0.4 });
    const { factId } = await remember({ key: "a.away", value: "put away" });
    await browser.submit(`/ui/facts/${factId}`, { decision: "archive" });
    const { user } = await app.ok("get_user_context", { userId: USER }, key);
    url = `/ui/export?scope=user&userId=${(user as { id: string }).id}`;
  });
  afterAll(() => app.dispose());

  test("an export is a file of JSON that holds every statement, decision and event", async () => {
    const { status, headers, html: text } = await browser.get(url);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["content-disposition"]).toMatch(
      /^attachment; filename="souvenir-user-[\w-]{36}\.json"$/,
    );
    const exported = JSON.parse(text);
    const values = exported.statements.map(({ key, value }: { key: string; value: unknown }) => [
      key,
      value,
    ]);
    expect(Object.fromEntries(values)).toEqual({
      "a.text": 'ends with </script> "quoted" \u2028',
      "a.json": { b: [1, null], a: "10.5" },
      "a.weak": "hardly known",
      "a.away": "put away",
    });
    expect(exported.decisions).toMatchObject([{ kind: "archive" }]);
    expect(exported.counts).toMatchObject({ statements: 4, decisions: 1 });
    expect(exported.events).toHaveLength(exported.counts.events);
  });

  const exports = () =>
    app.database.transactions.system("operator", async (tx) =>
      (await tx.select().from(memoryEvents)).filter(({ kind }) => kind === "exported"),
    );

  test("it is noted who took it, once, and not for a look at the headers", async () => {
    const before = (await exports()).length;
    await browser.get(url);
    expect(await exports()).toHaveLength(before + 1);
    const head = await app.http.inject({
      method: "HEAD",
      url,
      headers: { host: "localhost", cookie: browser.cookie ?? "" },
    });
    expect(head.statusCode).toBe(404);
    expect(await exports()).toHaveLength(before + 1);
  });

  test("many facts come in pieces, and a reader who leaves stops the reading", async () => {
    const owner = await app.createKey({ role: "owner" }, "big");
    await app.ok("remember_fact", { scope: "org", key: "n.first", value: 1 }, owner);
    const { table } = factTables.org;
    await app.database.transactions.system("operator", async (tx) => {
      const rows = await tx.select().from(table);
      const row = rows.find(({ key }) => key === "n.first");
      if (!row) throw new Error("not remembered");
      const { id: _, ...copied } = row;
      const filler = JSON.stringify("x".repeat(2000));
      for (let at = 0; at < 3; at++) {
        await tx.insert(table).values(
          Array.from({ length: 400 }, (_, n) => ({
            ...copied,
            key: `n.n${at * 400 + n}`,
            value: filler,
            sourceMessageId: `m${at * 400 + n}`,
          })),
        );
      }
    });
    const reader = await signedIn(app, owner);
    const whole = await reader.get("/ui/export?scope=org");
    expect(JSON.parse(whole.html).counts.statements).toBe(1201);

    const address = await app.http.listen({ host: "127.0.0.1", port: 0 });
    const host = new URL(address).host;
    const before = (await exports()).length;
    const leave = new AbortController();
    const response = await fetch(`${address}/ui/export?scope=org`, {
      headers: { host, cookie: reader.cookie ?? "" },
      signal: leave.signal,
    });
    const stream = response.body?.getReader();
    expect((await stream?.read())?.value?.length).toBeGreaterThan(0);
    leave.abort();
    await stream?.closed.catch(() => {});
    // Its server goes on answering, and what nobody took is not noted as taken.
    expect((await reader.get("/ui")).status).toBe(200);
    expect(await exports()).toHaveLength(before);
  });
});
