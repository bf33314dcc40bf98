import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("archive_turn archives both sides once, however often it is retried", async () => {
    const turn = {
      userId: "310",
      channel: "web",
      userMessage: "question #noremember",
      assistantMessage: "answer",
      idempotencyKey: "turn-1",
      feedback: { thumb: "up" },
    };
    const first = await app.ok("archive_turn", turn);
    expect(await app.ok("archive_turn", turn)).toEqual(first);
    const changed = await app.call("archive_turn", { ...turn, assistantMessage: "other" });
    expect(changed.error?.code).toBe("CONFLICT");
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.execute(sql`select m.* from chat_messages m
        join channel_identities i on i.id = m.identity_id
        where i.external_id = '310' order by m.sent_at, m.id`),
    );
    expect(rows.map((row) => [row.direction, row.text, row.opted_out])).toEqual([
      ["inbound", "question #noremember", true],
      ["outbound", "answer", true],
    ]);
    expect(JSON.parse(String(rows[1]?.payload))).toMatchObject({ feedback: { thumb: "up" } });
  });

  test("a turn is archived whatever its words hold: what cannot be stored becomes U+FFFD", async () => {
    const turn = { userId: "311", channel: "web", userMessage: "a\0b \ud83d", idempotencyKey: "k" };
    const sent = { ...turn, assistantMessage: "\udc00 😀 \0" };
    const first = await app.ok("archive_turn", sent);
    expect(await app.ok("archive_turn", sent)).toEqual(first);
    const { messages } = await app.ok("get_chat_history", { userId: "311" });
    expect((messages as { text: string }[]).map(({ text }) => text)).toEqual([
      "a\uFFFDb \uFFFD",
      "\uFFFD 😀 \uFFFD",
    ]);
    for (const broken of [{ userId: "3\0" }, { conversationId: "\ud83d" }, { channel: "w\0" }]) {
      const { error } = await app.call("archive_turn", { ...sent, ...broken });
      expect(error?.code).toBe("INVALID_INPUT");
    }
  });

  test("both messages may be 262,144 characters long, however they are sent, and no longer", async () => {
    const text = "茶".repeat(262_144);
    const turn = { userId: "312", channel: "web", userMessage: text, assistantMessage: text };
    const answer = await app.callRaw(
      "archive_turn",
      JSON.stringify(turn).replaceAll("茶", "\\u8336"),
    );
    expect(answer.error).toBeUndefined();
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.execute<{ text: string }>(sql`select m.text from chat_messages m
        join channel_identities i on i.id = m.identity_id where i.external_id = '312'`),
    );
    expect(rows.map((row) => row.text === text)).toEqual([true, true]);
    const { error } = await app.call("archive_turn", { ...turn, userMessage: `${text}!` });
    expect(error?.message).toMatch(/^userMessage: .*262144/);
  });
});
