import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

interface Shown {
  readonly text: string | null;
  readonly kind: string;
  readonly direction: string;
  readonly sentAt: string;
  readonly edited: boolean;
}

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:00.950Z");
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
  });
  afterAll(() => app.dispose());

  const deliver = async (update: object | string) =>
    expect(await app.telegram(update)).toEqual({ status: 200, body: "{}" });
  const history = async (userId: string) =>
    (await app.ok("get_chat_history", { userId })).messages as Shown[];
  const texts = async (userId: string) => (await history(userId)).map(({ text }) => text);
  const revisions = (externalId: string) =>
    app.database.transactions.system("operator", (tx) =>
      tx.execute<{ text: string | null; payload: string }>(sql`
        select r.text, r.payload from chat_message_revisions r
        join chat_messages m on m.id = r.message_id join channel_identities i on i.id = m.identity_id
        where i.external_id = ${externalId} order by m.sent_at, m.id, r.revision`),
    );

  test("what a channel and a runtime archive within one second stands in the order in which it came", async () => {
    await deliver(privateMessage(601, { message_id: 20, text: "q" }));
    const turn = { userId: "601", channel: "telegram", userMessage: "u", assistantMessage: "a" };
    const { sentAt } = await app.ok("archive_turn", turn);
    expect(sentAt).toBe("2026-03-01T10:00:00.000Z");
    await deliver({
      update_id: 60_100,
      callback_query: {
        id: "press",
        from: { id: 601, is_bot: false, first_name: "Ana" },
        chat_instance: "x",
        data: "ok",
      },
    });
    await deliver(privateMessage(601, { message_id: 22, text: "thanks" }));
    const shown = (await history("601")).map(({ text, direction }) => [text, direction]);
    expect(shown).toEqual([
      ["q", "inbound"],
      ["u", "inbound"],
      ["a", "outbound"],
      [null, "inbound"],
      ["thanks", "inbound"],
    ]);
  });

  test("a turn keeps the time that it was given, to the millisecond", async () => {
    const turn = { userId: "602", channel: "web", userMessage: "u", assistantMessage: "a" };
    for (const [observedAt, kept] of [
      ["2026-03-01T09:59:59.250Z", "2026-03-01T09:59:59.250Z"],
      ["2026-03-01T10:00:00.950Z", "2026-03-01T10:00:00.950Z"],
      ["2026-03-01T10:00:00.951Z", "2026-03-01T10:00:00.000Z"],
    ]) {
      const { sentAt } = await app.ok("archive_turn", { ...turn, observedAt });
      expect(sentAt).toBe(kept);
    }
  });

  test("messages of one second are kept as they came, whatever their ids", async () => {
    for (const id of [31, 30, 33, 32]) {
      await deliver(privateMessage(603, { message_id: id, text: `m${id}` }));
    }
    expect(await texts("603")).toEqual(["m31", "m30", "m33", "m32"]);
  });

  test("another message under an update id that was seen before is archived, a redelivery is not", async () => {
    const first = privateMessage(604, { message_id: 5, text: "of the old bot" }, 1001);
    const second = privateMessage(604, { message_id: 6, text: "of the new bot" }, 1001);
    for (const update of [first, second, first, second]) await deliver(update);
    await Promise.all(Array.from({ length: 5 }, () => deliver(second)));
    const edit = { message_id: 6, text: "edited", edit_date: TELEGRAM_DATE + 1 };
    for (let i = 0; i < 2; i++) await deliver(editedMessage(604, edit, 1001));
    expect(await texts("604")).toEqual(["of the old bot", "edited"]);
    expect(await revisions("604")).toHaveLength(1);
  });

  const file = { file_id: "F", file_unique_id: "u" };
  const photo = [{ ...file, width: 1, height: 1 }];
  test.each([
    [
      605,
      "another kind under the same caption",
      { photo, caption: "c" },
      { video: file, caption: "c" },
      "video",
    ],
    [606, "another kind without words", { photo }, { document: file }, "document"],
    [607, "another picture", { photo }, { photo: [{ ...photo[0], file_id: "G" }] }, "photo"],
    [
      608,
      "another place",
      { location: { latitude: 1, longitude: 2, live_period: 60 } },
      { location: { latitude: 1.5, longitude: 2, live_period: 60 } },
      "location",
    ],
  ])(
    "person %i edits a message to %s: it shows, and what it was is kept",
    async (id, _what, before, after, kind) => {
      await deliver(privateMessage(id, { message_id: 1, ...before }));
      const edit = { message_id: 1, ...after, edit_date: TELEGRAM_DATE + 5 };
      await deliver(editedMessage(id, edit));
      await deliver(editedMessage(id, edit));
      await deliver(editedMessage(id, { ...edit, edit_date: TELEGRAM_DATE + 9 }));
      const [shown, ...others] = await history(String(id));
      expect(others).toEqual([]);
      expect(shown).toMatchObject({ kind, edited: true });
      const [earlier, ...more] = await revisions(String(id));
      expect(more).toEqual([]);
      expect(JSON.parse(earlier?.payload ?? "")).toMatchObject(before);
    },
  );

  test("an edit of nothing but its date is none, and one of the picture leaves what the words taught", async () => {
    await deliver(privateMessage(609, { message_id: 1, photo, caption: "I am vegan" }));
    const [message] = await history("609");
    const sourceMessageId = (message as { id?: string } | undefined)?.id;
    await app.ok("remember_fact", {
      ...{ scope: "user", userId: "609", key: "diet", value: "vegan", sourceMessageId },
    });
    const caption = "I am vegan";
    await deliver(editedMessage(609, { message_id: 1, photo, caption, edit_date: TELEGRAM_DATE }));
    expect(await history("609")).toMatchObject([{ edited: false }]);
    const video = { video: file, caption, edit_date: TELEGRAM_DATE + 1 };
    await deliver(editedMessage(609, { message_id: 1, ...video }));
    expect(await history("609")).toMatchObject([{ edited: true, kind: "video", text: caption }]);
    expect((await app.ok("recall", { userId: "609" })).facts).toHaveLength(1);
  });

  test("a message far longer than the platform's is archived whole and searched around", async () => {
    const text = "龍".repeat(200_000);
    const update = JSON.stringify(privateMessage(610, { message_id: 1, text }));
    const escaped = update.replaceAll("龍", "\\u9f8d");
    expect(escaped.length).toBeGreaterThan(1_200_000);
    await deliver(escaped);
    await deliver(privateMessage(610, { message_id: 2, text: "after" }));
    const page = await app.ok("get_chat_history", { userId: "610" });
    expect((page.messages as Shown[]).map((message) => message.text)).toEqual(["after"]);
    const before = { userId: "610", before: page.nextBefore };
    const [whole] = (await app.ok("get_chat_history", before)).messages as Shown[];
    expect(whole?.text === text).toBe(true);
    await app.ok("recall", { userId: "610", query: "龍".repeat(50_000) });
  });
});
