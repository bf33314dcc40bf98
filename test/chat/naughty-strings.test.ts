import naughtyStrings from "big-list-of-naughty-strings/blns.json" with { type: "json" };
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("every string of the naughty list survives as a chat message, in order", async () => {
    const texts = naughtyStrings.filter((text) => text !== "");
    for (const [i, text] of texts.entries()) {
      const update = privateMessage(401, { message_id: i + 1, text, date: 1772359200 + i });
      expect((await app.telegram(update)).status).toBe(200);
    }
    const { messages } = await app.ok("get_chat_history", { userId: "401", limit: 500 });
    expect((messages as { text: string }[]).map((message) => message.text)).toEqual(texts);
  });

  test("every string of the naughty list survives as a value", async () => {
    const entries = naughtyStrings.map((value, i) => ({ key: `k${i}`, value }));
    await app.ok("store_memory", { userId: "402", entries });
    const { memory } = await app.ok("get_user_context", { userId: "402" });
    expect(memory).toEqual(Object.fromEntries(entries.map(({ key, value }) => [key, value])));
  });
});
