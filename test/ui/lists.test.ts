import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">';
const PERSON = { scope: "user", userId: "telegram:7" };

onBothDatabases((engine) => {
  let app: TestApp;
  let browser: Browser;
  let member: Browser;
  let personId: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
    const key = await app.createKey({ role: "admin" }, "acme");
    browser = await signedIn(app, key);
    member = await signedIn(app, await app.createKey({}, "acme"));
    for (const [slug, name] of [
      ["paris", "Boutique Paris"],
      ["lyon", HOSTILE],
    ]) {
      await app.v1("POST", "/v1/stores", { slug, name }, "acme");
    }
    const remember = (fact: object) =>
      app.ok("remember_fact", { confidence: 0.9, ...PERSON, ...fact }, key);
    await remember({ key: "likes.tea", value: "Thé vert", tags: ["drinks"] });
    await remember({ key: "size.shirt", value: { size: "M" }, agentId: "maya", confidence: 0.8 });
    await remember({ key: "note.hostile", value: HOSTILE, confidence: 0.7 });
    await remember({ key: "weak.guess", value: "maybe a dog", confidence: 0.45 });
    await app.ok("remember_fact", { scope: "org", key: "policy.returns", value: "30 days" }, key);
    const sunday = { scope: "store", storeId: "paris", key: "hours.sunday", value: "closed" };
    await app.ok("remember_fact", sunday, key);
    const context = await app.ok("get_user_context", { userId: "telegram:7" }, key);
    personId = (context.user as { id: string }).id;
  });
  afterAll(() => app.dispose());

  const keysOn = (html: string) =>
    [...html.matchAll(/<a class="key" href="[^"]*">([^<]*)<\/a>/g)].map((match) => match[1]);
  const list = (query = "", by = browser) =>
    by.get(`/ui/facts?scope=user&userId=${personId}${query}`);

  test("the first page leads to the facts of the org, of each store and of each person", async () => {
    const { html } = await browser.get("/ui/facts");
    const links = [...html.matchAll(/class="row-name" href="([^"]*)"/g)].map((match) =>
      String(match[1]).replaceAll("&amp;", "&"),
    );
    expect(links).toHaveLength(4);
    const keys: (string | undefined)[] = [];
    for (const link of links) keys.push(...keysOn((await browser.get(link)).html));
    expect(keys.sort()).toEqual([
      "hours.sunday",
      "likes.tea",
      "note.hostile",
      "policy.returns",
      "size.shirt",
    ]);
    expect(textOf(html)).toContain("Boutique Paris");
  });

  test("live facts above 0.5 are shown, strongest first, and everything on demand", async () => {
    expect(keysOn((await list()).html)).toEqual(["likes.tea", "size.shirt", "note.hostile"]);
    const all = await list("&all=1");
    expect(keysOn(all.html)).toEqual(["likes.tea", "size.shirt", "note.hostile", "weak.guess"]);
    expect(textOf(all.html)).toContain("maybe a dog");
  });

  test("words and an agent narrow the list; what was typed stays in the form, escaped", async () => {
    expect(keysOn((await list("&q=THE+drinks")).html)).toEqual(["likes.tea"]);
    expect(keysOn((await list("&agent=maya&q=")).html)).toEqual(["size.shirt"]);
    const { html } = await list(`&q=${encodeURIComponent('"><script>zz')}`);
    expect(html).toContain('value="&quot;>&lt;script>zz"');
    expect(html).not.toContain("<script>");
    expect(textOf(html)).toContain("No fact matches.");
  });

  test("a long list is read page by page, without end or overlap", async () => {
    const writer = await app.createKey({}, "acme");
    for (let n = 0; n < 52; n++) {
      const fact = { scope: "store", storeId: "lyon", key: `item.n${n}`, value: `number ${n}` };
      await app.ok("remember_fact", fact, writer);
    }
    const { html: home } = await browser.get("/ui/facts");
    const [, lyon = ""] = /href="([^"]*storeId=[^"]*)"><bdi[^>]*>&lt;script/.exec(home) ?? [];
    const seen: (string | undefined)[] = [];
    let next: string | undefined = lyon.replaceAll("&amp;", "&");
    while (next !== undefined) {
      const { html }: { html: string } = await browser.get(next);
      seen.push(...keysOn(html));
      next = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toHaveLength(52);
    expect(new Set(seen).size).toBe(52);
  });

  test("what somebody else wrote is shown as text, wherever it stands", async () => {
    for (const url of ["/ui/facts", `/ui/facts?scope=user&userId=${personId}`]) {
      const { html } = await browser.get(url);
      expect(textOf(html)).toContain(HOSTILE);
      expect(html).not.toMatch(/<script>|<img/);
    }
  });

  test("a member sees the same and is offered no export of the org's and stores' facts", async () => {
    const { html } = await member.get("/ui/facts");
    expect(html.match(/class="row-name"/g)).toHaveLength(4);
    expect(html.match(/\/ui\/export/g)).toHaveLength(1);
    expect((await member.get("/ui/export?org=1")).status).toBe(403);
    expect((await member.get(`/ui/export?userId=${personId}`)).status).toBe(200);
  });

  describe("people", () => {
    beforeAll(async () => {
      const key = await app.createKey({}, "crowd");
      for (let n = 100; n < 152; n++) {
        await app.ok("update_memory", { userId: `telegram:${n}`, key: "k", value: 1 }, key);
      }
      await app.telegram(privateMessage(900, { message_id: 1, text: "hello" }));
      await app.ok("update_memory", { userId: "web:shared", key: "k", value: 1 });
    });

    const names = (html: string) =>
      [
        ...html
          .slice(html.indexOf('id="people"'))
          .matchAll(/class="row-name" href="[^"]*"><bdi[^>]*>([^<]*)</g),
      ].map((match) => match[1]);

    test("come newest first, 50 a page, each once", async () => {
      const crowd = await signedIn(app, await app.createKey({}, "crowd"));
      const first = await crowd.get("/ui/facts");
      const [, next = ""] = /rel="next" href="([^"]*)"/.exec(first.html) ?? [];
      const second = await crowd.get(next.replaceAll("&amp;", "&"));
      const found = [...names(first.html), ...names(second.html)];
      expect(found).toEqual(Array.from({ length: 52 }, (_, n) => `telegram:${151 - n}`));
      expect(second.html).not.toContain('rel="next"');
      expect(second.html).toContain("Newest people");
    });

    test("are found by a part of their id or name, and by our id, within the org", async () => {
      const crowd = await signedIn(app, await app.createKey({}, "crowd"));
      const find = async (search: string, by = crowd) =>
        names((await by.get(`/ui/facts?search=${encodeURIComponent(search)}`)).html);
      expect(await find("m:15")).toHaveLength(2);
      expect(await find("TELEGRAM:107")).toEqual(["telegram:107"]);
      expect(await find("nobody")).toEqual([]);
      expect(await find(personId)).toEqual([]);
      expect(await find(personId, browser)).toEqual(["telegram:7"]);
      const owner = await signedIn(app, OWNER_KEY);
      const [named = ""] = await find("900", owner);
      expect(named).toContain("@");
      const [, username = ""] = /@(\w+)/.exec(named) ?? [];
      expect(await find(`@${username.toUpperCase()}`, owner)).toEqual([named]);
      expect(await find("%", owner)).toEqual([]);
    });
  });
});
