import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentRuntime } from "../support/agent-runtime.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { BotApiDouble } from "../support/bot-api-double.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

interface Row {
  readonly kind: string;
  readonly direction: string;
  readonly text: string | null;
  readonly user_id: string | null;
  readonly payload: string;
  readonly forwarded: boolean;
  readonly opted_out: boolean;
  readonly conversation_id: string;
  readonly edited_at: string | null;
  readonly [column: string]: unknown;
}

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:30.000Z");
  let app: TestApp;
  let telegram: BotApiDouble;
  beforeAll(async () => {
    telegram = await BotApiDouble.start();
    app = await openApp(engine, { clock: clock.now, env: telegram.env });
  });
  afterAll(async () => {
    await app.dispose();
    await telegram.stop();
  });

  const query = (text: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute<Row>(text));
  const rowsOf = (externalId: string) =>
    query(sql`select m.* from chat_messages m join channel_identities i on i.id = m.identity_id
      where i.external_id = ${externalId} order by m.sent_at, m.id`);
  const history = async (userId: string) =>
    (await app.ok("get_chat_history", { userId })).messages as {
      text: string | null;
      kind: string;
      direction: string;
      sentAt: string;
      edited: boolean;
    }[];
  const deliver = async (update: object | string) => {
    const { status } = await app.telegram(update);
    expect(status).toBe(200);
  };

  const file = { file_id: "F", file_unique_id: "u" };
  test("every kind is archived with its kind, direction, text or caption, person and payload", async () => {
    const person = 301;
    const kinds: [kind: string, text: string | null, fields: object][] = [
      ["text", "hello", { text: "hello" }],
      ["photo", "look", { photo: [{ ...file, width: 1, height: 1 }], caption: "look" }],
      ["voice", null, { voice: { ...file, duration: 1 } }],
      ["audio", null, { audio: { ...file, duration: 1 } }],
      [
        "video",
        "watch",
        { video: { ...file, width: 1, height: 1, duration: 1 }, caption: "watch" },
      ],
      ["video_note", null, { video_note: { ...file, length: 1, duration: 1 } }],
      ["document", null, { document: file }],
      ["animation", null, { animation: file, document: file }],
      ["sticker", null, { sticker: { ...file, emoji: "👍" } }],
      ["location", null, { location: { latitude: 45.7, longitude: 4.8 } }],
      ["venue", null, { venue: { title: "v" }, location: { latitude: 1, longitude: 2 } }],
      ["contact", null, { contact: { phone_number: "1", first_name: "B" } }],
      ["poll", null, { poll: { id: "p", question: "?", options: [] } }],
      ["dice", null, { dice: { emoji: "🎲", value: 6 } }],
      ["service", null, { group_chat_created: true }],
    ];
    for (const [i, [, , fields]] of kinds.entries()) {
      await deliver(
        privateMessage(person, { message_id: i + 1, date: TELEGRAM_DATE + i, ...fields }),
      );
    }
    const rows = await rowsOf("301");
    expect(rows.map((row) => [row.kind, row.text])).toEqual(
      kinds.map(([kind, text]) => [kind, text]),
    );
    for (const [i, [, , fields]] of kinds.entries()) {
      expect(rows[i]).toMatchObject({ direction: "inbound", user_id: expect.any(String) });
      expect(JSON.parse(rows[i]?.payload ?? "")).toMatchObject({ message_id: i + 1 });
      expect(Object.keys(JSON.parse(rows[i]?.payload ?? ""))).toEqual(
        expect.arrayContaining(Object.keys(fields)),
      );
    }
  });

  test("a redelivered update is archived once, in sequence and in parallel", async () => {
    const once = privateMessage(302, { message_id: 5, text: "once" }, 1001);
    for (let i = 0; i < 3; i++) await deliver(once);
    const racing = privateMessage(302, { message_id: 6, text: "once too" }, 1002);
    await Promise.all(Array.from({ length: 10 }, () => deliver(racing)));
    // Update ids restart after a quiet week: the message itself is known.
    await deliver(privateMessage(302, { message_id: 6, text: "once too" }, 77));
    expect((await history("302")).map((message) => message.text)).toEqual(["once", "once too"]);
  });

  test("an edit keeps one message at its time, with the earlier text as a revision", async () => {
    await deliver(privateMessage(303, { message_id: 30, text: "helo" }));
    await deliver(
      editedMessage(303, { message_id: 30, text: "hello", edit_date: TELEGRAM_DATE + 60 }),
    );
    await deliver(
      editedMessage(303, { message_id: 30, text: "stale", edit_date: TELEGRAM_DATE + 10 }),
    );
    expect(await history("303")).toMatchObject([
      { text: "hello", edited: true, sentAt: "2026-03-01T10:00:00.000Z" },
    ]);
    const revisions = await query(sql`select r.revision, r.text from chat_message_revisions r
      join chat_messages m on m.id = r.message_id join channel_identities i on i.id = m.identity_id
      where i.external_id = '303'`);
    expect(revisions).toMatchObject([{ revision: 0, text: "helo" }]);
    await deliver(
      editedMessage(303, { message_id: 31, text: "never seen", edit_date: TELEGRAM_DATE + 60 }),
    );
    expect(await history("303")).toHaveLength(2);
  });

  test("an edit archives the facts that came from the message, and a deletion erases both", async () => {
    await deliver(privateMessage(304, { message_id: 1, text: "I am vegan" }));
    const [row] = await rowsOf("304");
    const fact = { scope: "user", userId: "304", key: "diet", value: "vegan" };
    await app.ok("remember_fact", { ...fact, sourceMessageId: row?.id });
    const recalled = async () =>
      ((await app.ok("recall", { userId: "304" })).facts as unknown[]).length;
    expect(await recalled()).toBe(1);
    await deliver(
      editedMessage(304, { message_id: 1, text: "not vegan", edit_date: TELEGRAM_DATE + 9 }),
    );
    expect(await recalled()).toBe(0);
    expect(await query(sql`select 1 from user_facts where key = 'diet'`)).toHaveLength(1);
  });

  test("a business message that was deleted on the platform is erased here", async () => {
    const chat = { id: 305, type: "private", first_name: "Ana" };
    await deliver({
      update_id: 5001,
      business_message: {
        business_connection_id: "biz",
        message_id: 9,
        date: TELEGRAM_DATE,
        chat,
        from: { id: 305, is_bot: false, first_name: "Ana" },
        text: "erase me",
      },
    });
    expect(await history("305")).toMatchObject([{ text: "erase me" }]);
    await deliver({
      update_id: 5002,
      deleted_business_messages: { business_connection_id: "biz", chat, message_ids: [9] },
    });
    expect((await history("305")).map((message) => message.text)).not.toContain("erase me");
  });

  test("a new person is pending, and approved at once where the operator says so", async () => {
    await deliver(privateMessage(306, { message_id: 1, text: "hi" }));
    expect(await app.ok("get_user_context", { userId: "306" })).toMatchObject({
      user: { status: "pending", approvedAt: null },
    });
  });

  test("a group that becomes a supergroup loses nothing, though message ids restart", async () => {
    const from = { id: 307, is_bot: false, first_name: "Ana" };
    const old = { id: -4518810793, type: "group", title: "g" };
    const next = { id: -1002471352452, type: "supergroup", title: "g" };
    const message = (update_id: number, fields: object) =>
      deliver({ update_id, message: { date: TELEGRAM_DATE, from, ...fields } });
    await message(7001, { message_id: 1, chat: old, text: "before" });
    await message(7002, { message_id: 153, chat: old, migrate_to_chat_id: next.id });
    await message(7003, { message_id: 1, chat: next, migrate_from_chat_id: old.id });
    await message(7004, { message_id: 2, chat: next, text: "after" });
    const texts = (await history("307")).map((entry) => entry.text).filter(Boolean);
    expect(texts).toEqual(["before", "after"]);
  });

  test("a forwarded text is marked as somebody else's, and #noremember opts a message out", async () => {
    await deliver(
      privateMessage(309, {
        message_id: 1,
        text: "I love opera",
        forward_origin: { type: "hidden_user", sender_user_name: "B", date: TELEGRAM_DATE },
      }),
    );
    await deliver(privateMessage(309, { message_id: 2, text: "my secret #NoRemember! " }));
    await deliver(
      privateMessage(309, { message_id: 3, text: "#noremember is what I asked about" }),
    );
    const rows = await rowsOf("309");
    expect(rows.map((row) => [row.forwarded, row.opted_out])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });

  test("a bot of another org reaches that org's archive only, and an unknown account is 404", async () => {
    expect(
      (await app.telegram(privateMessage(311, { message_id: 1, text: "x" }), "nobody")).status,
    ).toBe(404);
    expect((await app.call("get_chat_history", { userId: "311" })).error?.code).toBe("NOT_FOUND");
  });

  test("an image that is sent is archived as a photo with its source, never its bytes", async () => {
    telegram.chats.add(312);
    await deliver(privateMessage(312, { message_id: 1, text: "show me" }));
    const userId = "telegram:312";
    const png = "iVBORw0KGgoAAAANSUhEUg==";
    const url = "https://example.com/a.png";
    await app.ok("send_image", { userId, image: url, caption: "<b>this</b> one", format: "html" });
    await app.ok("send_image", { userId, image: "AgACAgIAAxkBAAIBAmX" });
    await app.ok("send_image", { userId, image: `data:image/png;base64,${png}` });
    const sent = (await rowsOf("312")).filter((row) => row.direction === "outbound");
    expect(sent.map((row) => [row.kind, row.text, row.delivery_status])).toEqual([
      ["photo", "this one", "sent"],
      ["photo", null, "sent"],
      ["photo", null, "sent"],
    ]);
    const sources = sent.map((row) => JSON.parse(row.payload).image);
    expect(sources).toEqual([
      { url },
      { fileId: "AgACAgIAAxkBAAIBAmX" },
      { sha256: expect.stringMatching(/^[\da-f]{64}$/), type: "image/png", bytes: 16 },
    ]);
    expect(JSON.stringify(sent)).not.toContain(png.slice(0, 16));
    for (const image of ["data:image/png;base64,AAAA", "no such thing", "ftp://x/y.png"])
      expect((await app.call("send_image", { userId, image })).error?.code).toBe("INVALID_INPUT");
  });

  test("what could not be sent is archived as failed, with the reason", async () => {
    await deliver(privateMessage(313, { message_id: 1, text: "hi" }));
    const answer = await app.call("send_message", { userId: "telegram:313", text: "hello" });
    expect(answer.error).toMatchObject({
      code: "INVALID_INPUT",
      message: "Telegram refused it: chat not found",
    });
    const [, failed] = await rowsOf("313");
    expect(failed).toMatchObject({ delivery_status: "failed", text: "hello", turn_id: null });
    expect(JSON.parse(failed?.payload ?? "").failure).toEqual(answer.error);
    expect((await history("313")).at(-1)).toMatchObject({ text: "hello", failed: true });
  });

  test("whoever is told of a message finds it in the archive at that moment, with its edit", async () => {
    const runtime = await AgentRuntime.start(clock.now);
    const env = { ...runtime.env, TELEGRAM_AUTO_APPROVE: "true" };
    const other = await openApp(engine, { clock: clock.now, env });
    const found: unknown[] = [];
    runtime.answer = async ({ data }) => {
      const { messages } = await other.ok("get_chat_history", { userId: data.user.id });
      found.push((messages as { id: string }[]).find(({ id }) => id === data.message.id));
    };
    const heard = (count: number) =>
      expect.poll(() => found.length, { timeout: 10_000 }).toBe(count);
    await other.telegram(privateMessage(321, { message_id: 1, text: "helo" }));
    await heard(1);
    const edit = { message_id: 1, text: "hello", edit_date: TELEGRAM_DATE + 5 };
    await other.telegram(editedMessage(321, edit));
    await heard(2);
    expect(found).toMatchObject([{ text: "helo" }, { text: "hello", edited: true }]);
    expect(runtime.said).toEqual(["message.received helo", "message.edited hello"]);
    await Promise.all([other.dispose(), runtime.close()]);
  });
});
