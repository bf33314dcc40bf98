import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { BotApiDouble } from "../support/bot-api-double.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

interface Row {
  readonly id: string;
  readonly text: string | null;
  readonly delivery_status: string | null;
  readonly turn_id: string | null;
  readonly payload: string;
  readonly [column: string]: unknown;
}

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:30.000Z");
  const lines: string[] = [];
  const waits: number[] = [];
  let telegram: BotApiDouble;
  let app: TestApp;
  let person = 1000;
  beforeAll(async () => {
    telegram = await BotApiDouble.start();
    app = await openApp(engine, {
      clock: clock.now,
      env: { ...telegram.env, TELEGRAM_AUTO_APPROVE: "true", LOG_LEVEL: "debug" },
      logStream: { write: (line) => lines.push(line) },
      wait: async (milliseconds) => {
        waits.push(milliseconds);
      },
    });
  });
  afterAll(async () => {
    await app.dispose();
    await telegram.stop();
  });
  /** Somebody new, who has just written. */
  beforeEach(async () => {
    person++;
    telegram.chats.add(person);
    telegram.sent.length = 0;
    waits.length = 0;
    await app.telegram(privateMessage(person, { message_id: 1, text: "do you ship abroad?" }));
  });

  const query = (text: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute<Row>(text));
  const sentRows = () =>
    query(sql`select m.* from chat_messages m join channel_identities i on i.id = m.identity_id
      where i.external_id = ${String(person)} and m.direction = 'outbound' order by m.id`);
  const send = (args: object = {}) =>
    app.call("send_message", { userId: `telegram:${person}`, text: "yes, we do", ...args });
  type Shown = readonly { text: string; failed?: true }[];
  const history = async () =>
    (await app.ok("get_chat_history", { userId: `telegram:${person}` })).messages as Shown;

  test("a message is sent, archived as Telegram knows it, closes the turn and is found", async () => {
    const { value } = await send();
    const [row] = await sentRows();
    expect(row).toMatchObject({
      delivery_status: "sent",
      text: "yes, we do",
      platform_message_id: expect.stringMatching(new RegExp(`^${person}:\\d+$`)),
    });
    expect(value).toEqual({
      messages: [{ id: row?.id, platformMessageId: row?.platform_message_id }],
    });
    const [turn] = await query(sql`select state from turns where id = ${row?.turn_id}`);
    expect(turn).toMatchObject({ state: "closed" });
    const { messages } = await app.ok("recall", { userId: `telegram:${person}`, query: "ship" });
    expect(JSON.stringify(messages)).toContain("yes, we do");
    expect((await history()).map(({ text }) => text)).toEqual([
      "do you ship abroad?",
      "yes, we do",
    ]);
  });

  test("an internal id means the conversation in which the person wrote last", async () => {
    const { user } = await app.ok("get_user_context", { userId: `telegram:${person}` });
    await send({ userId: (user as { id: string }).id });
    expect(telegram.sent).toMatchObject([{ chat_id: person, text: "yes, we do" }]);
  });

  test("a group, a topic and a business chat are answered only where the person has written", async () => {
    const chat = { id: -100_500 - person, type: "supergroup", title: "g" };
    telegram.chats.add(chat.id).add(person);
    telegram.topics.add(`${chat.id}:7`);
    telegram.connections.add(`biz:${person}`);
    const conversations = [`${chat.id}`, `${chat.id}:7`, `business:biz:${person}`];
    for (const conversationId of conversations)
      expect((await send({ conversationId })).error?.code).toBe("NOT_FOUND");
    const from = { id: person, is_bot: false, first_name: "Ana" };
    const base = { date: TELEGRAM_DATE, from, text: "hi" };
    await app.telegram({ update_id: person, message: { ...base, message_id: 2, chat } });
    await app.telegram({
      update_id: person + 100_000,
      message: { ...base, message_id: 3, chat, message_thread_id: 7, is_topic_message: true },
    });
    await app.telegram({
      update_id: person + 200_000,
      business_message: {
        ...base,
        message_id: 4,
        business_connection_id: "biz",
        chat: { id: person, type: "private" },
      },
    });
    for (const conversationId of conversations)
      expect((await send({ conversationId })).error).toBeUndefined();
    expect(telegram.sent).toMatchObject([
      { chat_id: chat.id },
      { chat_id: chat.id, message_thread_id: 7 },
      { chat_id: person, business_connection_id: "biz" },
    ]);
    expect((await sentRows()).map((row) => row.conversation_id)).toEqual(conversations);
    expect((await sentRows())[2]?.platform_message_id).toMatch(/^business:biz:\d+:\d+$/);
  });

  test("an echo of what was sent is the same message, also where it comes first", async () => {
    telegram.connections.add(`biz:${person}`);
    const chat = { id: person, type: "private" };
    const said = { date: TELEGRAM_DATE, chat, business_connection_id: "biz" };
    const from = { id: person, is_bot: false, first_name: "Ana" };
    await app.telegram({
      update_id: person,
      business_message: { ...said, message_id: 4, from, text: "hi" },
    });
    const echo = (message_id: number, update_id: number) =>
      app.telegram({
        update_id,
        business_message: {
          ...said,
          message_id,
          from: { id: 5, is_bot: true, first_name: "B" },
          sender_business_bot: { id: 5, is_bot: true, first_name: "B" },
          text: "yes, we do",
        },
      });
    telegram.onSent = (id) => echo(id, person + 100_000);
    const { value } = await send({ conversationId: `business:biz:${person}` });
    telegram.onSent = undefined;
    const [sent] = (value?.messages ?? []) as { platformMessageId: string }[];
    const platformMessageId = sent?.platformMessageId ?? "";
    await echo(Number(platformMessageId.split(":").at(-1)), person + 200_000);
    const rows = await sentRows();
    expect(rows.map((row) => row.delivery_status)).toEqual(["sent"]);
    expect(rows[0]).toMatchObject({ platform_message_id: platformMessageId });
    const { messages } = await app.ok("recall", {
      userId: `telegram:${person}`,
      query: "yes we do",
    });
    expect(JSON.stringify(messages).match(/yes, we do/g)).toHaveLength(1);
  });

  test("what Telegram refuses is archived as failed, in no turn, not searched, and shown so", async () => {
    telegram.next({ refuses: 400, description: 'Bad Request: "yes, we do" is not nice' });
    const { error } = await send();
    expect(error).toMatchObject({ code: "INVALID_INPUT" });
    expect(error?.message).not.toContain("yes");
    const [row] = await sentRows();
    expect(row).toMatchObject({ delivery_status: "failed", turn_id: null });
    expect(JSON.parse(row?.payload ?? "").failure).toEqual({
      code: "INVALID_INPUT",
      message: error?.message,
    });
    await app.telegram(privateMessage(person, { message_id: 2, text: "hello? ship?" }));
    const { messages } = await app.ok("recall", { userId: `telegram:${person}`, query: "ship" });
    expect(JSON.stringify(messages)).not.toContain("yes, we do");
    const { recentMessages } = await app.ok("get_user_context", { userId: `telegram:${person}` });
    for (const shown of [await history(), recentMessages as Shown])
      expect(shown.map((message) => message.failed)).toEqual([undefined, undefined, true]);
  });

  test("of a long text the parts after a failed one are not sent", async () => {
    const text = `${"a ".repeat(2000)}\n\n${"b ".repeat(2000)}\n\n${"c ".repeat(2000)}`;
    telegram.onSent = async () =>
      telegram.next({ refuses: 403, description: "Forbidden: bot was blocked by the user" });
    const call = { text, idempotencyKey: `k${person}` };
    const { error } = await send(call);
    telegram.onSent = undefined;
    expect(error).toMatchObject({
      code: "CONFLICT",
      hint: "The first 1 of 3 messages were sent: send only the rest.",
    });
    // Not even the same call again: it would double the first part.
    expect((await send(call)).error).toEqual(error);
    expect(telegram.sent).toHaveLength(1);
    const rows = await sentRows();
    expect(rows.map((row) => row.delivery_status)).toEqual(["sent", "failed", "failed"]);
  });

  test("somebody who blocked the bot is marked, until a message gets through", async () => {
    const mark = () =>
      query(
        sql`select unreachable_at from channel_identities where external_id = ${String(person)}`,
      );
    telegram.next({ refuses: 403, description: "Forbidden: bot was blocked by the user" });
    const { error } = await send();
    expect(error).toMatchObject({
      code: "CONFLICT",
      message: "nothing can be sent there: bot was blocked by the user",
    });
    expect((await mark())[0]?.unreachable_at).not.toBeNull();
    await send();
    expect((await mark())[0]?.unreachable_at).toBeNull();
  });

  test("a short wait is waited, a long one told; then the same call may be made again", async () => {
    telegram.next(telegram.tooMany(7), telegram.tooMany(8));
    expect((await send()).error).toBeUndefined();
    expect(waits).toEqual([7000, 8000]);
    telegram.next(telegram.tooMany(10), telegram.tooMany(6));
    const call = { idempotencyKey: `k${person}` };
    expect((await send(call)).error).toMatchObject({
      code: "RATE_LIMITED",
      message: expect.stringContaining("6 s"),
    });
    expect((await send(call)).error).toBeUndefined();
    expect(telegram.sent).toHaveLength(2);
  });

  test("the same idempotencyKey sends once; another text under it is refused", async () => {
    const call = { idempotencyKey: `k${person}` };
    const first = await send(call);
    expect(await send(call)).toEqual(first);
    expect((await send({ ...call, text: "other" })).error?.code).toBe("CONFLICT");
    expect(telegram.sent).toHaveLength(1);
  });

  test.each(["breaks off", "bad gateway"] as const)(
    "when Telegram %s it is unknown, and never sent again by itself",
    async (behaviour) => {
      telegram.next(behaviour);
      const call = { idempotencyKey: `k${person}` };
      const { error } = await send(call);
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        message: expect.stringContaining("unknown whether"),
      });
      expect((await send(call)).error).toEqual(error);
      expect(telegram.sent.length).toBeLessThanOrEqual(1);
      expect((await sentRows()).map((row) => row.delivery_status)).toEqual(["failed"]);
    },
  );

  test("a group that became a supergroup is followed once", async () => {
    const group = { id: -person, type: "group", title: "g" };
    const from = { id: person, is_bot: false, first_name: "Ana" };
    const message = { message_id: 2, date: TELEGRAM_DATE, chat: group, from, text: "hi" };
    await app.telegram({ update_id: person, message });
    telegram.chats.add(-100_900);
    const description = "Bad Request: group chat was upgraded to a supergroup chat";
    const moved = { refuses: 400, description, parameters: { migrate_to_chat_id: -100_900 } };
    telegram.next(moved);
    expect((await send({ conversationId: `${-person}` })).error).toBeUndefined();
    expect((await sentRows())[0]).toMatchObject({ conversation_id: "-100900" });
    telegram.next(moved, moved);
    expect((await send({ conversationId: `${-person}` })).error?.code).toBe("INVALID_INPUT");
  });

  test("nothing is sent to people who are unknown, blocked or elsewhere", async () => {
    const code = async (userId: string) => (await send({ userId })).error?.code;
    expect(await code("telegram:999999")).toBe("NOT_FOUND");
    await app.ok("update_memory", { userId: "web:abc", key: "k", value: 1 });
    expect(await code("web:abc")).toBe("CONFLICT");
    await query(sql`update users set status = 'blocked' where id in
      (select user_id from channel_identities where external_id = ${String(person)})`);
    expect(await code(`telegram:${person}`)).toBe("CONFLICT");
    expect(telegram.sent).toEqual([]);
    expect(await sentRows()).toEqual([]);
  });

  test("what a process left behind is failed after ten minutes, and nothing sooner", async () => {
    await send();
    await query(sql`update chat_messages set delivery_status = 'sending'
      where id in ${(await sentRows()).map(({ id }) => id)}`);
    const status = async () => (await sentRows())[0]?.delivery_status;
    await app.v1("GET", "/v1/jobs");
    const run = () => app.jobs.runNow("chat.unfinished");
    clock.advance(599_000);
    await run();
    expect(await status()).toBe("sending");
    clock.advance(2_000);
    await run();
    expect(await status()).toBe("failed");
    expect((await history()).at(-1)).toMatchObject({ failed: true });
  });

  test("neither the token nor a text is ever logged", async () => {
    telegram.next({ refuses: 400, description: "Bad Request: no" }, "breaks off");
    await send({ text: "canary in the coal mine" });
    await send({ text: "canary in the coal mine" });
    const log = lines.join("\n");
    expect(log).not.toContain(telegram.token);
    expect(log).not.toContain("canary");
  });
});
