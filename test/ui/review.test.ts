import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { turns } from "../../src/db/schema/turns.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const PERSON = { scope: "user", userId: "telegram:7" };
const HOSTILE = "<script>alert(1)</script>";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let key: string;
  let browser: Browser;
  let personId: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
    key = await app.createKey({ role: "admin" }, "acme");
    browser = await signedIn(app, key);
    const context = { userId: "telegram:7", key: "k", value: 1 };
    await app.ok("update_memory", context, key);
    const { user } = await app.ok("get_user_context", { userId: "telegram:7" }, key);
    personId = (user as { id: string }).id;
  });
  afterAll(() => app.dispose());

  const remember = async (fact: object) => {
    clock.advance(60_000);
    return String((await app.ok("remember_fact", { ...PERSON, ...fact }, key)).factId);
  };
  const say = (userMessage: string, assistantMessage = "Noted.") => {
    clock.advance(20_000);
    const turn = { userId: "telegram:7", channel: "web", userMessage, assistantMessage };
    return app.ok("archive_turn", turn, key);
  };

  test("a contradiction stands side by side with what was said, and is settled from there", async () => {
    await remember({ key: "home", value: "Paris" });
    const { userMessageId } = await say(`I moved to London ${HOSTILE}`);
    await remember({ key: "home", value: "London", sourceMessageId: userMessageId });
    const { html } = await browser.get("/ui/inbox");
    expect(html).not.toContain("<script>alert");
    const text = textOf(html);
    for (const part of ["Accept the new one", "Keep the old one", "Both are true"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain(`I moved to London ${HOSTILE}`);
    expect(html).toContain(`href="/ui/chat/${userMessageId}"`);
    const [, action = "", decision = ""] =
      /action="(\/ui\/facts\/[^"]*)"[\s\S]*?value="(settle)"/.exec(html) ?? [];
    const settled = await browser.submit(action, { decision, from: "inbox" });
    expect(textOf(settled.html)).toContain("Settled: this is the value that counts.");
    expect(textOf(settled.html)).toContain("Nothing waits here");
    const page = await browser.get(action);
    expect(textOf(page.html)).toContain("What was said before, or does not count any more");
  });

  test("a fact says in whose words it was said, how sure that is, and draws its score", async () => {
    const { userMessageId } = await say("I only eat vegetables");
    const id = await remember({ key: "diet", value: "vegetarian", sourceMessageId: userMessageId });
    const { html } = await browser.get(`/ui/facts/${id}`);
    const text = textOf(html);
    for (const part of [
      "Why do you believe this?",
      "I only eat vegetables",
      "in the web",
      "As a preference fact it halves every 365 days",
      "it fades on",
      "It is never deleted by itself.",
      "Score over time",
    ]) {
      expect(text).toContain(part);
    }
    expect(html).toMatch(/<svg[\s\S]*<path class="line/);
    const bound = await signedIn(app, await app.createKey({ pinUserId: personId }, "acme"));
    expect(textOf((await bound.get(`/ui/facts/${id}`)).html)).toContain("I only eat vegetables");
  });

  test("a correction that nothing was learned from becomes a fact, or is laid aside", async () => {
    await say("What may I cook?", "You eat everything.");
    await say("No, I am allergic to nuts");
    await say("No, I live in Rome", "Noted.");
    clock.advance(60_000);
    await app.database.transactions.system("operator", (tx) =>
      tx
        .update(turns)
        .set({ state: "closed", reason: "extraction-off" })
        .where(eq(turns.isCorrection, true)),
    );
    const { html } = await browser.get("/ui/inbox/corrections");
    const text = textOf(html);
    expect(text).toContain("You eat everything.");
    expect(text).toContain("No, I am allergic to nuts");
    const [lay = "", keep = ""] = [
      ...html.matchAll(/action="(\/ui\/inbox\/corrections\/[\w-]+)"/g),
    ].map((match) => match[1]);
    const fact = { key: "food.allergies", value: "nuts" };
    const kept = await browser.submit(keep, fact);
    expect(textOf(kept.html)).toContain("Remembered, with the message as its source.");
    expect((await browser.post(keep, fact)).status).toBe(404);
    const laid = await browser.submit(`${lay}/dismiss`, {});
    expect(textOf(laid.html)).toContain("Nothing waits here");
    const list = `/ui/facts?scope=user&userId=${personId}&q=allergies`;
    const [, id = ""] =
      /href="(\/ui\/facts\/[\w-]{36})"/.exec((await browser.get(list)).html) ?? [];
    expect(textOf((await browser.get(id)).html)).toContain("It corrected the assistant.");
    const member = await signedIn(app, await app.createKey({}, "acme"));
    expect((await member.get("/ui/inbox/corrections")).status).toBe(403);
    expect((await member.get("/ui/inbox")).status).toBe(200);
  });

  test("the list is narrowed by tier, tag and state, and a fact is pinned from it", async () => {
    const id = await remember({ key: "size", value: "M", tier: "core", tags: ["clothes"] });
    const list = async (query: string) =>
      textOf((await browser.get(`/ui/facts?scope=user&userId=${personId}${query}`)).html);
    expect(await list("&tier=core")).toContain("size");
    expect(await list("&tier=watch")).toContain("No fact matches.");
    expect(await list("&tag=clothes")).toContain("size");
    expect(await list("&only=pinned")).not.toContain("Pin size");
    await browser.submit(`/ui/facts/${id}`, { decision: "pin" });
    expect(await list("&only=pinned")).toContain("Unpin size");
    await browser.submit(`/ui/facts/${id}`, { decision: "archive" });
    expect(await list("&only=archived")).toContain("Take back size");
  });

  test("what was learned of other sites stands by site", async () => {
    await app.ok(
      "remember_fact",
      { scope: "org", key: "watch.acme.pricing", value: "from 19 euros" },
      key,
    );
    expect(textOf((await browser.get("/ui/watch")).html)).toContain("from 19 euros");
    expect(textOf((await browser.get("/ui/watch?site=other")).html)).toContain(
      "Nothing was learned",
    );
    expect(textOf((await browser.get("/ui/duplicates")).html)).toContain("Nothing looks like");
  });

  test("a key of one person sees no contradiction and no watch fact of the org", async () => {
    const org = { scope: "org", userId: undefined, key: "policy" };
    await remember({ ...org, value: "30 days" });
    await remember({ ...org, value: "60 days" });
    const bound = await signedIn(app, await app.createKey({ pinUserId: personId }, "acme"));
    expect(textOf((await bound.get("/ui/inbox")).html)).not.toContain("60 days");
    expect(textOf((await bound.get("/ui/watch")).html)).not.toContain("19 euros");
    expect((await bound.get("/ui/duplicates")).status).toBe(200);
  });
});
