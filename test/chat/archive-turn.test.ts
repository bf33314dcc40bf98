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
});
