import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";
import { TELEGRAM_DATE } from "../support/telegram.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("a notice of more deleted messages than a statement has parameters is taken, and obeyed", async () => {
    const chat = { id: 401, type: "private", first_name: "Ana" };
    const from = { id: 401, is_bot: false, first_name: "Ana" };
    const connection = { business_connection_id: "biz{\"'\\,}", chat };
    for (const message_id of [1, 2]) {
      const message = {
        ...connection,
        from,
        message_id,
        date: TELEGRAM_DATE,
        text: `m${message_id}`,
      };
      await app.telegram({ update_id: 8000 + message_id, business_message: message });
    }
    const message_ids = Array.from({ length: 70_000 }, (_, n) => n + 2);
    const answer = await app.telegram({
      update_id: 8003,
      deleted_business_messages: { ...connection, message_ids },
    });
    expect(answer).toEqual({ status: 200, body: "{}" });
    const { messages } = await app.ok("get_chat_history", { userId: "401" });
    const texts = (messages as { text: string | null }[]).map(({ text }) => text);
    expect(texts.filter((text) => text !== null)).toEqual(["m1"]);
  });
});
