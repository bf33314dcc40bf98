import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { EVENT_SHAPES } from "./event-shapes.ts";
import { MEDIA_SHAPES } from "./media-shapes.ts";
import { TALK_SHAPES } from "./talk-shapes.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  let updateId = 1;
  let archived = 0;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock("2026-03-01T10:00:30.000Z").now });
  });
  afterAll(() => app.dispose());

  const newRows = async () => {
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.execute<Record<string, unknown>>(sql`
        select m.kind, m.direction, m.text, m.forwarded, m.conversation_id, i.external_id as person,
          m.sent_at >= '2026-03-01' as is_of_today, m.user_id is null as is_nobodys
        from chat_messages m left join channel_identities i on i.id = m.identity_id
        order by m.id offset ${archived}`),
    );
    archived += rows.length;
    return rows;
  };

  test.each([...TALK_SHAPES, ...MEDIA_SHAPES, ...EVENT_SHAPES])(
    "%s",
    async (_name, updates, expected) => {
      for (const update of updates) {
        const body = { update_id: updateId++, ...update };
        expect((await app.telegram(body)).status).toBe(200);
        // Telegram may send anything twice, also at once.
        const again = await Promise.all([app.telegram(body), app.telegram(body)]);
        expect(again.map(({ status }) => status)).toEqual([200, 200]);
      }
      const rows = await newRows();
      expect(rows).toMatchObject(
        expected.map(
          ({ person, conversation, direction = "inbound", forwarded = false, ...row }) => ({
            ...row,
            ...{ person, direction, forwarded, is_of_today: true, is_nobodys: person === null },
            ...(conversation !== undefined && { conversation_id: conversation }),
          }),
        ),
      );
      expect(rows).toHaveLength(expected.length);
    },
  );
});
