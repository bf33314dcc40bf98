import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatMessages } from "../../src/db/schema/chat.ts";
import { linkCodes } from "../../src/db/schema/links.ts";
import { codeIn, hashCode, newCode } from "../../src/links/code.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";
import { memoryOf, saysOnTelegram, undo } from "./people.ts";

const MINUTE = 60_000;

test("a code is ten characters that cannot be mistaken for others, and is read however it is typed", () => {
  for (let i = 0; i < 200; i++) {
    const code = newCode();
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    const bare = code.replace("-", "");
    for (const typed of [
      code,
      code.toLowerCase(),
      ` ${bare} `,
      `/start ${bare}`,
      [...bare].join(" "),
    ]) {
      expect(codeIn(typed)).toBe(bare);
    }
  }
  expect(codeIn("O0oIl-1abc2")).toBe("000111ABC2");
});

test.each([
  "everything",
  "thank you so",
  "see ABCDE-FGH12",
  "/start",
  "",
  null,
  "ABCDE-FGH1",
  "ABCDE FGH123",
  "22222-2222U",
])("%j is no code", (text) => {
  expect(codeIn(text)).toBeUndefined();
});

test("the same letters are another code in another org", () => {
  expect(hashCode("a", "22222-22222")).toBe(hashCode("a", "2222222222"));
  expect(hashCode("a", "22222-22222")).not.toBe(hashCode("b", "22222-22222"));
});

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let person = 0;
  beforeAll(async () => {
    const options = { clock: clock.now, background: false };
    app = await openApp(engine, options);
  });
  afterAll(() => app.dispose());

  const known = async () => {
    const web = `web:guest-${++person}`;
    await app.ok("update_memory", { userId: web, key: "plan", value: "gold" });
    return { web, number: 1000 + person, telegram: `telegram:${1000 + person}` };
  };
  const issue = async (userId: string, key?: string) => {
    const { code, expiresAt } = await app.ok("link_identity", { userId }, key);
    return { code: String(code), expiresAt };
  };
  const isLinked = async (web: string, telegram: string) =>
    (await memoryOf(app, web)).id === (await memoryOf(app, telegram)).id;

  test("who sends a code that was told on one channel from another one is that person, and approved as they are", async () => {
    const { web, number, telegram } = await known();
    await saysOnTelegram(app, number, "hello, it is me");
    expect((await memoryOf(app, telegram)).status).toBe("pending");
    const { code, expiresAt } = await issue(web);
    expect(expiresAt).toBe(new Date(clock.now().getTime() + 15 * MINUTE).toISOString());
    await saysOnTelegram(app, number, ` ${code.toLowerCase()}`, 60);
    const one = await memoryOf(app, telegram);
    expect(one).toMatchObject({
      status: "approved",
      channels: ["telegram", "web"],
      entries: { plan: "gold" },
      said: ["telegram: hello, it is me", `telegram:  ${code.toLowerCase()}`],
    });
    const { body } = await app.v1("GET", `/v1/links?userId=${web}`);
    expect(body.links).toMatchObject([{ proof: "code", toUserId: one.id, undoneAt: null }]);
    await undo(app, String((body.links as { id: string }[])[0]?.id));
    expect((await memoryOf(app, telegram)).status).toBe("pending");
  });

  test("somebody who was never seen before may begin with it, by Telegram's deep link", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    await saysOnTelegram(app, number, `/start ${code.replace("-", "")}`);
    expect(await isLinked(web, telegram)).toBe(true);
  });

  test("the message with the code is kept and is part of no turn and no search", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    await saysOnTelegram(app, number, code);
    await saysOnTelegram(app, number, "what is my plan?", 5);
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx
        .select()
        .from(chatMessages)
        .where(and(eq(chatMessages.text, code))),
    );
    expect(rows).toMatchObject([{ turnId: null, optedOut: true, searchDue: false }]);
    await app.jobs.runDue();
    const { messages } = await app.ok("recall", { userId: telegram, query: code });
    expect(messages).toEqual([]);
  });

  test("a code works once, within its time, for its org, and in private", async () => {
    const first = await known();
    const { code } = await issue(first.web);
    const group = { id: -100, type: "group", title: "All" };
    const inGroup = privateMessage(first.number, {
      message_id: 900 + person,
      text: code,
      chat: group,
    });
    await app.telegram(inGroup);
    expect(await isLinked(first.web, first.telegram)).toBe(false);
    await saysOnTelegram(app, first.number, code);
    expect(await isLinked(first.web, first.telegram)).toBe(true);
    const second = await known();
    await saysOnTelegram(app, second.number, code);
    expect(await isLinked(first.web, second.telegram)).toBe(false);

    const late = await issue(second.web);
    clock.advance(15 * MINUTE);
    await saysOnTelegram(app, second.number, late.code);
    expect(await isLinked(second.web, second.telegram)).toBe(false);

    const foreign = await app.createKey({ role: "admin" }, "elsewhere");
    await app.ok("update_memory", { userId: second.web, key: "k", value: 1 }, foreign);
    const { code: theirs } = await issue(second.web, foreign);
    await saysOnTelegram(app, second.number, theirs);
    expect(await isLinked(second.web, second.telegram)).toBe(false);
  });

  test("what only looks like a code is a message like any other", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    const wrong = code.startsWith("2") ? `3${code.slice(1)}` : `2${code.slice(1)}`;
    await saysOnTelegram(app, number, wrong);
    expect(await isLinked(web, telegram)).toBe(false);
    const { messages } = await app.ok("get_chat_history", { userId: telegram });
    expect(messages).toMatchObject([{ text: wrong }]);
  });

  test("sent by the person it was issued for it proves nothing, and stays open", async () => {
    const { web, number, telegram } = await known();
    await saysOnTelegram(app, number, "hello");
    const { code } = await issue(telegram);
    await saysOnTelegram(app, number, code, 5);
    expect(await isLinked(web, telegram)).toBe(false);
  });

  test("who guesses is not listened to: after ten texts like a code none is looked up for a while", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    const start = (clock.now().getTime() - Date.parse("2026-03-01T10:00:00Z")) / 1000;
    for (let i = 0; i < 10; i++) await saysOnTelegram(app, number, `AAAAA-AAA2${i}`, start + i);
    await saysOnTelegram(app, number, code, start + 20);
    expect(await isLinked(web, telegram)).toBe(false);
    clock.advance(16 * MINUTE);
    const { code: next } = await issue(web);
    await saysOnTelegram(app, number, next, start + 16 * 60 + 30);
    expect(await isLinked(web, telegram)).toBe(true);
  });

  test("guesses are counted by when they arrive, whatever date a program posts them with", async () => {
    const { web } = await known();
    const { code } = await issue(web);
    const posted = `chat:guest-${person}`;
    const post = async (id: number, text: string) => {
      const said = { direction: "inbound", text, sentAt: "2020-01-01T00:00:00Z" };
      const message = { ...said, id: `${person}-${id}`, externalUserId: `guest-${person}` };
      const { status } = await app.v1("POST", "/v1/messages", { channel: "chat", ...message });
      expect(status).toBeLessThan(300);
    };
    for (let i = 0; i < 10; i++) await post(i, `AAAAA-AAA2${i}`);
    await post(10, code);
    expect(await isLinked(web, posted)).toBe(false);
  });

  test("a caption or an edit is no code", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    const message_id = 5000 + number;
    const photo = [{ file_id: "f", file_unique_id: "u", width: 9, height: 9 }];
    await app.telegram(privateMessage(number, { message_id, photo, caption: code }));
    await app.telegram(
      editedMessage(number, { message_id: message_id + 1, text: code, edit_date: TELEGRAM_DATE }),
    );
    expect(await isLinked(web, telegram)).toBe(false);
    await saysOnTelegram(app, number, code, 9);
    expect(await isLinked(web, telegram)).toBe(true);
  });

  test("at most five codes are open for a person, and only their hashes are kept", async () => {
    const { web } = await known();
    const codes = [];
    for (let i = 0; i < 5; i++) codes.push((await issue(web)).code);
    expect((await app.call("link_identity", { userId: web })).error?.code).toBe("LIMIT_EXCEEDED");
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.select().from(linkCodes),
    );
    for (const code of codes) expect(JSON.stringify(rows)).not.toContain(code.slice(0, 5));
    clock.advance(15 * MINUTE);
    await issue(web);
  });

  test("a code of somebody who is blocked links nobody", async () => {
    const { web, number, telegram } = await known();
    const { code } = await issue(web);
    await app.ok("set_user_status", { userId: web, status: "blocked", reason: "spam" });
    await saysOnTelegram(app, number, code);
    expect(await isLinked(web, telegram)).toBe(false);
    expect((await app.call("link_identity", { userId: web })).error?.code).toBe("CONFLICT");
  });
});
