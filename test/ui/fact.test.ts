import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const PERSON = { scope: "user", userId: "telegram:7" };
const HOSTILE = '</textarea><script>alert(1)</script>"><img src=x onerror=alert(2)>';

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let key: string;
  let browser: Browser;
  let unique = 0;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
    key = await app.createKey({ role: "admin" }, "acme");
    browser = await signedIn(app, key);
  });
  beforeEach(() => {
    clock.advance(60_000);
    unique++;
  });
  afterAll(() => app.dispose());

  const remember = async (fact: object) =>
    String(
      (await app.ok("remember_fact", { key: `k.n${unique}`, ...PERSON, ...fact }, key)).factId,
    );
  const show = async (id: string) => textOf((await browser.get(`/ui/facts/${id}`)).html);
  const recalled = async () => {
    const { facts } = await app.ok("recall", { userId: PERSON.userId, scopes: ["user"] }, key);
    return (facts as { key: string; value: unknown }[])
      .filter((fact) => fact.key === `k.n${unique}`)
      .map(({ value }) => value);
  };

  test("a fact says what it is worth, where each statement comes from, and what happened", async () => {
    const sourceMessageId = "message-17";
    const id = await remember({ value: "Vegetarian", reasoning: "ordered so", sourceMessageId });
    clock.advance(3_600_000);
    await remember({ value: "vegetarian.", sourceMessageId: "message-18" });
    const text = await show(id);
    for (const part of [
      "Vegetarian",
      "0.80",
      "2 times",
      "ordered so",
      "message-17",
      "message-18",
      "by your key",
      "created",
      "confirmed",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("who wrote a fact is named to admins, and an id to others; who may not change it is told why", async () => {
    const writer = await app.createKey({ role: "member", name: "shop bot" }, "acme");
    const said = { ...PERSON, key: `k.n${unique}`, value: "linen" };
    const id = String((await app.ok("remember_fact", said, writer)).factId);
    expect(await show(id)).toMatch(/written by key “ ?shop bot ?”.*created by key “ ?shop bot ?”/);
    const pins = { role: "member", pinUserId: PERSON.userId, pinAgentId: "maya" } as const;
    const other = await signedIn(app, await app.createKey(pins, "acme"));
    const text = textOf((await other.get(`/ui/facts/${id}`)).html);
    expect(text).toMatch(/created by another key, ?[\w-]{36}/);
    expect(text).toContain("speaks for the agent maya only, and atlas noted this");
  });

  test("text stays text and JSON stays JSON, to the last character", async () => {
    const id = await remember({ value: "10.5" });
    const values: [kind: string, written: string, kept: unknown][] = [
      ["text", " 10.50 ", " 10.50 "],
      ["json", "10.5", 10.5],
      ["json", '"true"', "true"],
      ["json", "true", true],
      ["json", "null", null],
      ["json", '{"b":1,"a":[2,"é"]}', { b: 1, a: [2, "é"] }],
      ["text", "two\r\nlines", "two\nlines"],
      ["text", "\n\nbegins below", "\n\nbegins below"],
      ["text", "+ & = % ü 🙂", "+ & = % ü 🙂"],
    ];
    let current = id;
    for (const [kind, value, kept] of values) {
      clock.advance(1000);
      const answer = await browser.post(`/ui/facts/${current}/edit`, { kind, value, reason: "" });
      expect([value, answer.status]).toEqual([value, 303]);
      current = /facts\/([\w-]+)\?done=edited$/.exec(answer.location ?? "")?.[1] ?? "";
      expect(await recalled()).toEqual([kept]);
    }
    expect(await show(current)).toContain("Written by a person on this page");
  });

  test("the form shows a value so that saving it unread would not change it", async () => {
    const id = await remember({ value: "\nfirst line is empty" });
    const { html } = await browser.get(`/ui/facts/${id}`);
    // HTML drops one line break at the start of a text area.
    expect(html).toMatch(/<textarea[^>]*>\n\nfirst line is empty<\/textarea>/);
    expect(html).toContain('value="text" checked');
    const json = await remember({ key: `k.json${unique}`, value: { a: 1 } });
    const { html: other } = await browser.get(`/ui/facts/${json}`);
    expect(other).toMatch(/<textarea[^>]*>\n{\n {2}&quot;a&quot;: 1\n}<\/textarea>/);
    expect(other).toContain('value="json" checked');
  });

  test.each([
    ["broken JSON", "json", "{oops", "this is not JSON"],
    ["nothing as JSON", "json", "", "this is not JSON"],
    [
      "an integer of 20 digits",
      "json",
      "12345678901234567890",
      "12345678901234567890 cannot be kept",
    ],
    ["a number without end", "json", "[1e999]", "1e999 cannot be kept"],
    ["a negative zero", "json", "-0", "cannot be kept"],
    ["U+0000 in JSON", "json", '{"a":"\\u0000"}', "cannot be stored"],
    ["half a surrogate pair", "json", '["\\ud800"]', "cannot be stored"],
    ["U+0000 in text", "text", "nul \0", "cannot be stored"],
    ["the same in other letters", "text", "Kept As It Is!", "says the same as before"],
    ["5,000 characters", "text", "x".repeat(5000), "a fact takes 4096"],
    ["3,000 lists in each other", "json", `${"[".repeat(3000)}${"]".repeat(3000)}`, "nests"],
    ["300 lists in each other", "json", `${"[".repeat(300)}${"]".repeat(300)}`, "nests"],
  ])("%s is refused, and what was typed is still there", async (_, kind, value, fault) => {
    const id = await remember({ value: "kept as it is" });
    const reason = `because ${HOSTILE}`;
    const { status, html } = await browser.post(`/ui/facts/${id}/edit`, { kind, value, reason });
    expect(status).toBe(400);
    expect(textOf(html)).toContain(fault);
    expect(html).toContain("<details open>");
    expect(textOf(html)).toContain(value.replaceAll("\0", "").trim().slice(0, 40));
    expect(html).not.toMatch(/<script>|<img/);
    expect(await recalled()).toEqual(["kept as it is"]);
  });

  test("a fact is pinned, put away and taken back, and says so", async () => {
    const id = await remember({ value: "moved" });
    const decide = async (decision: string) =>
      textOf((await browser.submit(`/ui/facts/${id}`, { decision })).html);
    expect(await decide("pin")).toContain("Pinned: it does not fade");
    expect(await show(id)).toMatch(/k\.n\d+ pinned/);
    expect(await decide("unpin")).toContain("No longer pinned.");
    expect(await decide("archive")).toContain("agents do not recall it any more");
    expect(await recalled()).toEqual([]);
    expect(await show(id)).toContain("Take back");
    expect(await decide("restore")).toContain("Taken back");
    expect(await recalled()).toEqual(["moved"]);
    for (const decision of ["edit", "explode", ""]) {
      expect((await browser.post(`/ui/facts/${id}`, { decision })).status).toBe(400);
    }
  });

  test("of two values in a contest a person says which is right, or that both are true", async () => {
    for (const [decision, left] of [
      ["settle", ["Lives in Lyon"]],
      ["keep_all", ["Lives in Lyon", "Lives in Marseille"]],
    ] as const) {
      unique++;
      const id = await remember({ value: "Lives in Lyon" });
      clock.advance(1000);
      await remember({ value: "Lives in Marseille" });
      const text = await show(id);
      expect(text).toContain("Something else is said under this key");
      expect(text).toContain("Lives in Marseille");
      clock.advance(1000);
      const after = await browser.submit(`/ui/facts/${id}`, { decision });
      expect(textOf(after.html)).toContain("Settled");
      expect(after.html).not.toContain("Something else is said");
      expect((await recalled()).sort()).toEqual(left);
    }
  });

  test("deleting needs a reason, erases the fact and every trace of its text, and goes to its list", async () => {
    const secret = `secret of ${unique}`;
    const id = await remember({ value: secret, reasoning: `about ${secret}` });
    const url = `/ui/facts/${id}/delete`;
    for (const reason of ["", "  ", "x".repeat(241)]) {
      expect((await browser.post(url, { reason })).status).toBe(400);
    }
    const list = await browser.submit(url, { reason: "asked by the person" });
    expect(textOf(list.html)).toContain("Facts of telegram:7");
    expect(textOf(list.html)).toContain("Deleted, with every statement of it.");
    expect((await browser.get(`/ui/facts/${id}`)).status).toBe(404);
    const { html } = await browser.get(/href="(\/ui\/export[^"]*)"/.exec(list.html)?.[1] ?? "");
    expect(html).not.toContain(secret);
    expect((await browser.post(url, { reason: "again" })).status).toBe(404);
  });

  test("what somebody else wrote is text: markup, writing from right to left, hidden characters", async () => {
    const id = await remember({
      value: `${HOSTILE} \u202Eexe.gpj a\u200Bb \u{E0041}`,
      reasoning: `why ${HOSTILE}`,
      tags: [HOSTILE.slice(0, 40)],
    });
    const { html } = await browser.get(`/ui/facts/${id}`);
    expect(html).not.toMatch(/<script>|<img/);
    const shown = html.replace(/<textarea[\s\S]*?<\/textarea>/g, "");
    expect(shown).not.toMatch(/[\u202E\u200B\u{E0041}]/u);
    for (const mark of ["U+202E", "U+200B", "U+E0041"]) expect(textOf(shown)).toContain(mark);
    expect(html).toMatch(/<bdi[^>]*dir="auto"/);
  });

  test("a notice says only what the page itself says", async () => {
    const id = await remember({ value: "noticed" });
    for (const done of ["<b>hacked</b>", "constructor", "unknown"]) {
      const { html } = await browser.get(`/ui/facts/${id}?done=${encodeURIComponent(done)}`);
      expect(html).not.toContain('role="status"');
    }
  });

  describe("who may", () => {
    let orgFact: string;
    let shopFact: string;
    beforeAll(async () => {
      await app.v1("POST", "/v1/stores", { slug: "shop" }, "acme");
      orgFact = await remember({ scope: "org", userId: undefined, value: "of the org" });
      shopFact = await remember({
        scope: "store",
        userId: undefined,
        storeId: "shop",
        value: "of the shop",
      });
    });

    test("a member reads facts of the org and stores, without buttons, and is refused", async () => {
      const member = await signedIn(app, await app.createKey({}, "acme"));
      for (const id of [orgFact, shopFact]) {
        const { status, html } = await member.get(`/ui/facts/${id}`);
        expect(status).toBe(200);
        expect(html).not.toMatch(/action="\/ui\/facts/);
        const edit = { kind: "text", value: "other", reason: "" };
        expect((await member.post(`/ui/facts/${id}`, { decision: "archive" })).status).toBe(403);
        expect((await member.post(`/ui/facts/${id}/edit`, edit)).status).toBe(403);
        expect((await member.post(`/ui/facts/${id}/delete`, { reason: "x" })).status).toBe(403);
        expect(await show(id)).toContain("of the");
      }
      const mine = await remember({ value: "of the person" });
      expect((await member.post(`/ui/facts/${mine}`, { decision: "pin" })).status).toBe(303);
    });
  });
});
