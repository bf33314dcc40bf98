import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const ANA = "telegram:7";
const HOUR = 3600;

onBothDatabases((engine) => {
  let app: TestApp;
  let owner: Browser;
  let member: Browser;
  let ana: string;
  let group = 0;
  beforeAll(async () => {
    const clock = new TestClock("2026-03-02T09:00:00.000Z");
    app = await openApp(engine, { clock: clock.now });
    const turn = { userId: ANA, channel: "web" };
    for (let n = 0; n < 30; n++) {
      const observedAt = new Date((TELEGRAM_DATE + n * 60) * 1000).toISOString();
      const said = { userMessage: `question ${n}`, assistantMessage: `answer ${n}`, observedAt };
      await app.ok("archive_turn", { ...turn, ...said });
    }
    const say = (id: number, text: string, hours: number) => {
      const date = TELEGRAM_DATE + hours * HOUR;
      clock.advance(date * 1000 - clock.now().getTime());
      return app.telegram(privateMessage(7, { message_id: id, text, date }));
    };
    await say(1, "my bicycle is grean", 24);
    await app.telegram(
      editedMessage(7, {
        ...{ message_id: 1, text: "my bicycle is green", date: TELEGRAM_DATE + 24 * HOUR },
        edit_date: TELEGRAM_DATE + 25 * HOUR,
      }),
    );
    await say(2, "a secret bicycle #noremember", 26);
    const { user } = await app.ok("get_user_context", { userId: ANA });
    ana = (user as { id: string }).id;
    owner = await signedIn(app, app.env.OWNER_KEY ?? "");
    member = await signedIn(app, await app.createKey());
  });
  afterAll(() => app.dispose());

  const idsOn = (html: string) =>
    [...html.matchAll(/href="\/ui\/chat\/([0-9a-f-]{36})"/g)].map((match) => match[1]);
  const messageOf = async (text: string) => {
    const { html } = await owner.get(`/ui/chat?userId=${ana}&search=${encodeURIComponent(text)}`);
    return idsOn(html)[0] ?? "";
  };

  test("a person's chat is read newest first, page by page, each message once", async () => {
    const seen: (string | undefined)[] = [];
    let next: string | undefined = `/ui/chat?userId=${ana}`;
    const texts: string[] = [];
    while (next !== undefined) {
      const { html }: { html: string } = await member.get(next);
      seen.push(...idsOn(html));
      texts.push(textOf(html));
      next = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toHaveLength(62);
    expect(new Set(seen).size).toBe(62);
    expect(texts[0]).toMatch(/2 March 2026.*secret bicycle.*is green.*1 March 2026.*answer 29/);
    expect(texts[1]).toContain("question 0");
  });

  test("a day alone is shown on demand", async () => {
    const { html } = await member.get(`/ui/chat?userId=${ana}&day=2026-03-02`);
    expect(idsOn(html)).toHaveLength(2);
    const empty = await member.get(`/ui/chat?userId=${ana}&day=2026-02-01`);
    expect(textOf(empty.html)).toContain("Nothing was said on this day.");
    expect((await member.get(`/ui/chat?userId=${ana}&day=yesterday`)).status).toBe(400);
  });

  test("an edited message shows what it said before, and one that opted out says so", async () => {
    const text = textOf((await member.get(`/ui/chat?userId=${ana}&day=2026-03-02`)).html);
    expect(text).toContain("It said before: my bicycle is grean");
    expect(text).toContain("Kept out of memory");
  });

  test("words find messages, but not those that opted out", async () => {
    const { html } = await member.get(`/ui/chat?userId=${ana}&search=bicycle`);
    expect(textOf(html)).toContain("my bicycle is green");
    expect(html).not.toContain("secret bicycle");
    expect((await member.get(`/ui/chat?userId=${ana}&search=a%00b`)).status).toBe(200);
    expect(textOf((await member.get(`/ui/chat?userId=${ana}&search=zebra`)).html)).toContain(
      "No message has these words.",
    );
  });

  test("a message stands among what was said before and after it, ten each", async () => {
    const { html } = await member.get(`/ui/chat/${await messageOf("question 15")}`);
    const said = [...html.matchAll(/(?:question|answer) \d+/g)].map(([text]) => text);
    expect(said).toHaveLength(21);
    expect(said[0]).toBe("question 10");
    expect(said[10]).toBe("question 15");
    expect(said.at(-1)).toBe("question 20");
    expect(textOf(html)).toContain("Nothing is remembered from this message.");
  });

  test("the raw payload is for admins", async () => {
    const url = `/ui/chat/${await messageOf("green bicycle")}`;
    expect((await owner.get(url)).html).toContain("&quot;message_id&quot;");
    expect((await member.get(url)).html).not.toContain("message_id");
  });

  test("a deleted message goes with what was learned from it alone, and stays away", async () => {
    const id = await messageOf("question 20");
    const fact = { scope: "user", userId: ANA, key: "asked.twenty", value: "yes" };
    await app.ok("remember_fact", { ...fact, sourceMessageId: id });
    const page = await member.get(`/ui/chat/${id}`);
    expect(textOf(page.html)).toContain("asked.twenty yes");
    const done = await member.submit(`/ui/chat/${id}/delete`, { reason: "asked to" });
    expect(textOf(done.html)).toContain("The message is deleted");
    expect((await member.get(`/ui/chat/${id}`)).status).toBe(404);
    const { facts } = await app.ok("recall", { userId: ANA, query: "asked twenty" });
    expect((facts as { key: string }[]).map(({ key }) => key)).not.toContain("asked.twenty");
    const { html } = await owner.get(`/ui/chat?userId=${ana}&search=question+20`);
    expect(html).not.toContain("question 20<");
    const { body } = await app.v1("GET", `/v1/audit?subjectId=${ana}`);
    expect(body.events).toMatchObject([
      { action: "message.deleted", reason: "asked to", details: { messageId: id, statements: 1 } },
    ]);
  });

  test("a message that the org learned from is deleted by an admin alone", async () => {
    const id = await messageOf("question 21");
    const fact = { scope: "org", key: "known.thing", value: "of the org", sourceMessageId: id };
    await app.ok("remember_fact", fact);
    expect((await member.post(`/ui/chat/${id}/delete`)).status).toBe(403);
    expect((await member.get(`/ui/chat/${id}`)).status).toBe(200);
    expect((await owner.post(`/ui/chat/${id}/delete`)).status).toBe(303);
  });

  const groupSays = (from: number, text: string, date: number) => {
    const chat = { id: -50, type: "group", title: "Friends" };
    return app.telegram(privateMessage(from, { message_id: ++group, text, date, chat }));
  };

  test("in a group a key of one person is shown what that person said alone", async () => {
    await groupSays(7, "hello from ana", TELEGRAM_DATE + 60 * HOUR);
    await groupSays(8, "hello from karim", TELEGRAM_DATE + 61 * HOUR);
    const id = await messageOf("hello");
    expect((await member.get(`/ui/chat/${id}`)).html).toContain("hello from karim");
    const pinned = await signedIn(app, await app.createKey({ pinUserId: ANA }));
    const { status, html } = await pinned.get(`/ui/chat/${id}`);
    expect(status).toBe(200);
    expect(html).toContain("hello from ana");
    expect(html).not.toContain("karim");
  });

  test("messages of nobody are read and deleted by admins alone", async () => {
    const channel = { id: -100, type: "channel", title: "News" };
    const post = { message_id: 5, date: TELEGRAM_DATE, chat: channel, text: "closed on Monday" };
    await app.telegram({ update_id: 90_001, channel_post: { ...post, sender_chat: channel } });
    await app.telegram({ update_id: 90_002, something_new: { told: "unread" } });
    const { html } = await owner.get("/ui/chat?nobody=1");
    expect(textOf(html)).toContain("closed on Monday");
    expect(textOf(html)).toContain("Could not be read");
    const ids = idsOn(html);
    expect(ids).toHaveLength(2);
    const pages = await Promise.all(ids.map((id) => owner.get(`/ui/chat/${id}`)));
    expect(pages.map((page) => page.html).join()).toContain("something_new");
    expect((await member.get("/ui/chat?nobody=1")).status).toBe(403);
    for (const id of ids) {
      expect((await member.get(`/ui/chat/${id}`)).status).toBe(404);
      expect((await member.post(`/ui/chat/${id}/delete`)).status).toBe(404);
      expect((await owner.submit(`/ui/chat/${id}/delete`, {})).status).toBe(200);
    }
    expect(textOf((await owner.get("/ui/chat?nobody=1")).html)).toContain("There are none.");
  });
});
