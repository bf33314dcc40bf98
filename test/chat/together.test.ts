import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";
import { TELEGRAM_DATE } from "../support/telegram.ts";

const chat = { id: 402, type: "private", first_name: "Ana" };
const from = { id: 402, is_bot: false, first_name: "Ana" };
const connection = { business_connection_id: "biz", chat };
const MESSAGES = 12;

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("new messages, edits and deletions of one chat that come at once are all taken, and found as they are then", async () => {
    const numbers = Array.from({ length: MESSAGES }, (_, n) => n + 1);
    const message = (message_id: number, text: string, over: object = {}) => ({
      ...connection,
      from,
      message_id,
      date: TELEGRAM_DATE + message_id,
      text,
      ...over,
    });
    for (const n of numbers) {
      await app.telegram({
        update_id: 9000 + n,
        business_message: message(n, `otter number ${n}`),
      });
    }
    const edit_date = TELEGRAM_DATE + 500;
    const deliveries = numbers.flatMap((n) => [
      { update_id: 9100 + n, business_message: message(100 + n, `badger number ${n}`) },
      n % 3 === 0
        ? {
            update_id: 9200 + n,
            deleted_business_messages: { ...connection, message_ids: [n] },
          }
        : {
            update_id: 9300 + n,
            edited_business_message: message(n, `heron number ${n}`, { edit_date }),
          },
    ]);
    const answers = await Promise.all(deliveries.map((update) => app.telegram(update)));
    expect(answers.map(({ status }) => status)).toEqual(deliveries.map(() => 200));
    const found = async (query: string) => {
      const { messages } = await app.ok("recall", { userId: "402", query, limit: 50 });
      return (messages as { text: string }[]).filter(({ text }) => text.startsWith(query)).length;
    };
    expect(await found("badger")).toBe(MESSAGES);
    expect(await found("heron")).toBe((MESSAGES * 2) / 3);
    expect(await found("otter")).toBe(0);
  });
});
