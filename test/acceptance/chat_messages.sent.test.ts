import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { BotApiDouble } from "../support/bot-api-double.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";

interface Row {
  readonly kind: string;
  readonly direction: string;
  readonly text: string | null;
  readonly payload: string;
  readonly [column: string]: unknown;
}

onBothDatabases((engine) => {
  let app: TestApp;
  let telegram: BotApiDouble;
  beforeAll(async () => {
    telegram = await BotApiDouble.start();
    app = await openApp(engine, { env: telegram.env });
  });
  afterAll(async () => {
    await app.dispose();
    await telegram.stop();
  });

  const rowsOf = (externalId: string) =>
    app.database.transactions.system("operator", (tx) =>
      tx.execute<Row>(sql`
        select m.* from chat_messages m join channel_identities i on i.id = m.identity_id
        where i.external_id = ${externalId} order by m.sent_at, m.id`),
    );
  const history = async (userId: string) =>
    (await app.ok("get_chat_history", { userId })).messages as object[];
  const deliver = async (update: object) => {
    expect((await app.telegram(update)).status).toBe(200);
  };

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
});
