import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">';

onBothDatabases((engine) => {
  let app: TestApp;
  let owner: Browser;
  let member: Browser;
  let ana: string;
  const idOf = async (userId: string) =>
    ((await app.ok("get_user_context", { userId })).user as { id: string }).id;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
    owner = await signedIn(app, app.env.OWNER_KEY ?? "");
    member = await signedIn(app, await app.createKey());
    await app.ok("update_memory", { userId: "telegram:1", key: "language", value: "fr" });
    const fact = { scope: "user", userId: "telegram:1", key: "likes.tea", value: HOSTILE };
    await app.ok("remember_fact", { ...fact, confidence: 0.9 });
    ana = await idOf("telegram:1");
    for (const id of [2, 3]) {
      await app.telegram(privateMessage(id, { message_id: id, text: `hello of ${id}` }));
    }
    await app.ok("update_memory", { userId: "web:late", key: "language", value: "de" });
  });
  afterAll(() => app.dispose());

  const section = (html: string, id: string) => textOf(html.split(`id="${id}"`)[1] ?? "");
  const auditOf = async (id: string) =>
    (await app.v1("GET", `/v1/audit?subjectId=${id}`)).body.events as Record<string, unknown>[];

  test("who waits for approval stands first, and is approved in place with a reason", async () => {
    const { html } = await owner.get("/ui/people");
    expect(section(html, "waiting")).toMatch(/^>? ?Waiting for approval.*@ana3.*@ana2.*Everybody/);
    const person = await idOf("telegram:3");
    const without = { status: "approved", reason: " ", from: "list" };
    expect((await owner.post(`/ui/people/${person}/status`, without)).status).toBe(400);
    const decision = { status: "approved", reason: "a customer", from: "list" };
    const done = await owner.submit(`/ui/people/${person}/status`, decision);
    expect(textOf(done.html)).toContain("Approved: agents answer");
    expect(section(done.html, "waiting")).not.toMatch(/@ana3.*Everybody/);
    const [event] = await auditOf(person);
    expect(event).toMatchObject({ action: "user.approved", reason: "a customer" });
    const narrow = await owner.get("/ui/people?status=pending&search=");
    expect(textOf(narrow.html)).not.toContain("@ana3");
    expect(textOf(narrow.html)).toContain("@ana2");
  });

  test("a member looks at people and is offered no decision, link or code", async () => {
    const list = await member.get("/ui/people");
    expect(list.html).not.toContain("/status");
    const { html } = await member.get(`/ui/people/${ana}`);
    expect(html).not.toMatch(/people\/[^"]*\/(?:status|link|code)/);
    const decision = { status: "blocked", reason: "x" };
    expect((await member.post(`/ui/people/${ana}/status`, decision)).status).toBe(403);
    expect((await member.post(`/ui/people/${ana}/code`)).status).toBe(403);
    expect((await member.get(`/ui/people/${ana}/link`)).status).toBe(403);
  });

  test("a person's page tells who they are, what is kept and what was said", async () => {
    const { html } = await member.get(`/ui/people/${ana}`);
    const text = textOf(html);
    expect(text).toContain("1 fact, 1 entry and 0 messages");
    expect(text).toContain("Telegram 1");
    expect(text).toContain("likes.tea");
    expect(text).toContain("language fr");
    expect(text).toContain(HOSTILE);
    expect(html).not.toMatch(/<script(?! src="\/ui\/)|<img/);
    expect((await member.get("/ui/people/telegram:1")).html).toContain(ana);
  });

  test("who stopped a channel is shown as not to be written to there", async () => {
    const stopped = { status: "kicked", user: { id: 1, is_bot: true, first_name: "Bot" } };
    const from = { id: 3, is_bot: false, first_name: "Ana" };
    await app.telegram({
      update_id: 70_001,
      my_chat_member: {
        ...{ chat: { id: 3, type: "private" }, from, date: 1772360000 },
        ...{ old_chat_member: { ...stopped, status: "member" }, new_chat_member: stopped },
      },
    });
    const { html } = await member.get(`/ui/people/${await idOf("telegram:3")}`);
    expect(textOf(html)).toContain("cannot be written to since 1 March 2026");
  });

  test("two people are linked by hand after a look at what moves, and parted again", async () => {
    const late = await idOf("web:late");
    const choose = await owner.get(`/ui/people/${ana}/link?search=late`);
    expect(choose.html).toContain(`/ui/people/${ana}/link?with=${late}`);
    const confirm = await owner.get(`/ui/people/${ana}/link?with=${late}`);
    expect(textOf(confirm.html)).toMatch(/the web late 0 messages 0 facts 1 entry/);
    const form = { with: late, reason: "said so on the phone" };
    const linked = await owner.submit(`/ui/people/${ana}/link`, form);
    expect(textOf(linked.html)).toContain("Linked: both are one person");
    expect(section(linked.html, "who")).toContain("late");
    const [, linkId = ""] = /\/links\/([0-9a-f-]{36})\/undo/.exec(linked.html) ?? [];
    expect(await idOf("web:late")).toBe(ana);
    const parted = await owner.submit(`/ui/people/${ana}/links/${linkId}/undo`, { reason: "" });
    expect(textOf(parted.html)).toContain("Parted again");
    expect(await idOf("web:late")).toBe(late);
  });

  test("a link code is on the answer alone, and makes two people one", async () => {
    const { status, html } = await owner.post(`/ui/people/${ana}/code`);
    expect(status).toBe(200);
    const [, code = ""] = /<p class="code">([^<]+)</.exec(html) ?? [];
    expect((await owner.get(`/ui/people/${ana}`)).html).not.toContain(code);
    await app.telegram(privateMessage(3, { message_id: 30, text: code }));
    expect(await idOf("telegram:3")).toBe(ana);
  });

  test("entries are added, changed and deleted by hand, and the trail keeps who did", async () => {
    const url = `/ui/people/${ana}/memory`;
    const added = await member.submit(url, { key: "délai", kind: "json", value: '{"b":1,"a":[]}' });
    expect(textOf(added.html)).toContain('{"b":1,"a":[]}');
    const entry = await member.get(`${url}/entry?key=${encodeURIComponent("délai")}`);
    expect(textOf(entry.html)).toContain('"b": 1');
    const bad = { key: "délai", kind: "json", value: "{oops", known: "1", reason: "typed" };
    const refused = await member.post(url, bad);
    expect(refused.status).toBe(400);
    expect(textOf(refused.html)).toContain("this is not JSON");
    expect(textOf(refused.html)).toContain("{oops");
    const large = await member.post(url, { key: "big", kind: "text", value: "é".repeat(40_000) });
    expect(textOf(large.html)).toContain("at most 65536 fit");
    const fits = await member.post(url, { key: "big", kind: "text", value: "é".repeat(32_000) });
    expect(fits.status).toBe(303);
    const { memory } = await app.ok("get_user_context", { userId: ana, keys: ["délai"] });
    expect(memory).toEqual({ délai: { b: 1, a: [] } });
    const gone = await member.submit(`${url}/delete`, { key: "big", reason: "too much" });
    expect(textOf(gone.html)).toContain("Deleted.");
    expect((await member.post(`${url}/delete`, { key: "big" })).status).toBe(404);
    expect((await member.get(`${url}/entry?key=big`)).status).toBe(404);
    expect((await member.post(url, { key: "a\0b", kind: "text", value: "x" })).status).toBe(400);
    const [last, first] = (await auditOf(ana)).filter(({ details }) =>
      JSON.stringify(details ?? "").includes("big"),
    );
    expect(first).toMatchObject({ action: "user.entry_set", details: { key: "big" } });
    expect(last).toMatchObject({ action: "user.entry_deleted", reason: "too much" });
  });
});
