import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { TELEGRAM_DATE } from "../support/telegram.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock("2026-03-01T10:00:30.000Z").now });
  });
  afterAll(() => app.dispose());

  const query = (text: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute(text));
  const history = async (userId: string) =>
    (await app.ok("get_chat_history", { userId })).messages as { kind: string }[];
  const deliver = async (update: object | string) => {
    expect((await app.telegram(update)).status).toBe(200);
  };

  test("channel posts and pseudo-senders are archived without a person", async () => {
    const chat = { id: -1001832400000, type: "supergroup", title: "g" };
    await deliver({
      update_id: 6001,
      channel_post: {
        message_id: 2949,
        date: TELEGRAM_DATE,
        chat: { ...chat, type: "channel" },
        sender_chat: { ...chat, type: "channel" },
        text: "news",
      },
    });
    for (const [i, id] of [1087968824, 136817688, 777000].entries()) {
      await deliver({
        update_id: 6002 + i,
        message: {
          message_id: 10 + i,
          date: TELEGRAM_DATE,
          chat,
          from: { id, is_bot: id !== 777000, first_name: "pseudo" },
          sender_chat: chat,
          ...(id === 777000 && { is_automatic_forward: true }),
          text: "anonymous",
        },
      });
      expect((await app.call("get_user_context", { userId: String(id) })).error?.code).toBe(
        "NOT_FOUND",
      );
    }
    const rows = await query(
      sql`select user_id, text from chat_messages where text in ('news', 'anonymous')`,
    );
    expect(rows.map((row) => row.user_id)).toEqual([null, null, null, null]);
  });

  test("what is unknown or unreadable is kept raw, and nothing is ever dated 1970", async () => {
    const from = { id: 308, is_bot: false, first_name: "Ana" };
    const chat = { id: 308, type: "private" };
    await deliver({ update_id: 8001, some_future_update: { x: 1 } });
    await deliver("{ this is no JSON");
    await deliver({
      update_id: 8002,
      callback_query: {
        id: "c",
        from,
        chat_instance: "x",
        data: "ok",
        message: { chat, message_id: 7, date: 0 },
      },
    });
    await deliver({
      update_id: 8003,
      message_reaction: {
        chat,
        message_id: 1,
        user: from,
        date: TELEGRAM_DATE,
        old_reaction: [],
        new_reaction: [{ type: "emoji", emoji: "👍" }],
      },
    });
    const messages = await history("308");
    expect(messages.map((message) => message.kind).sort()).toEqual(["callback", "reaction"]);
    expect(await query(sql`select 1 from chat_messages where kind = 'unsupported'`)).toHaveLength(
      2,
    );
    expect(await query(sql`select 1 from chat_messages where sent_at < '2000-01-01'`)).toHaveLength(
      0,
    );
  });

  test("ids beyond 32 bits and broken text survive exactly or as U+FFFD", async () => {
    await deliver(
      '{"update_id":2147483650,"message":{"message_id":2147483650,"date":1772359200,"chat":{"id":-1002471352452,"type":"supergroup","title":"g"},"from":{"id":7999999999,"is_bot":false,"first_name":"Ana"},"text":"hi \\ud83d \\u0000 end"}}',
    );
    expect(await history("7999999999")).toMatchObject([{ text: "hi \ufffd \ufffd end" }]);
  });
});
