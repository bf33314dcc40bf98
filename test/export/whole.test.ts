import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { fetchExport, type ReadExport, takeExport } from "./exported.ts";

const USER = "telegram:7";
const FACTS = 3001;
const MESSAGES = 1501;
const ENTRIES = 1001;
const ARCHIVED = 50;

// Case B141: exports of other memories end at a page.
onBothDatabases((engine) => {
  let app: TestApp;
  let key: string;
  let whole: ReadExport;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
    key = await app.createKey({ role: "admin" }, "acme");
    await app.ok("update_memory", { userId: USER, key: "k", value: 1 }, key);
    const source = { sourceMessageId: "m", key: "fact.first", value: "first" };
    await app.ok("remember_fact", { scope: "user", userId: USER, ...source }, key);
    const turn = { channel: "web", userMessage: "first", assistantMessage: "answer" };
    await app.ok("archive_turn", { userId: USER, ...turn }, key);
    /** Copies of a row under other ids. Some share their time: a page may end between any two. */
    const copies = (table: string, rows: number, changes: string) => sql`
      insert into ${sql.identifier(table)} select (json_populate_record(t, json_build_object(${sql.raw(changes)}))).*
      from ${sql.identifier(table)} t, generate_series(1, ${rows}::int) n
      where t.ctid = (select min(ctid) from ${sql.identifier(table)})`;
    const time = "'2026-02-01T00:00:00Z'::timestamptz + (n / 7) * interval '1 minute'";
    await app.database.transactions.system("operator", async (tx) => {
      await tx.execute(
        copies(
          "user_facts",
          FACTS - 1,
          `'id', gen_random_uuid(), 'key', 'fact.n' || n, 'observed_at', ${time},
          'archived_at', case when n <= ${ARCHIVED} then now() end,
          'archived_reason', case when n <= ${ARCHIVED} then 'archived' end`,
        ),
      );
      await tx.execute(
        copies(
          "memory_events",
          FACTS - 1,
          `'id', gen_random_uuid(), 'fact_id', gen_random_uuid(), 'at', ${time}`,
        ),
      );
      await tx.execute(
        copies(
          "chat_messages",
          MESSAGES - 2,
          `'id', gen_random_uuid(), 'platform_message_id', 'm' || n, 'sent_at', ${time}`,
        ),
      );
      await tx.execute(copies("memory_kv", ENTRIES - 1, "'key', 'k' || n"));
    });
    whole = await takeExport(app, `userId=${USER}`, { key });
  });
  afterAll(() => app.dispose());

  test("an export ends with the last row, and not at a page", () => {
    const { rows, totals, header } = whole;
    const counts = { userFacts: FACTS, messages: MESSAGES, entries: ENTRIES, events: FACTS };
    expect(totals).toMatchObject(counts);
    expect(header.counts).toMatchObject(counts);
    const unique = (name: "userFacts" | "messages" | "entries" | "events", field: string) =>
      new Set(rows[name].map((row) => row[field])).size;
    expect({
      userFacts: unique("userFacts", "id"),
      messages: unique("messages", "id"),
      entries: unique("entries", "key"),
      events: unique("events", "id"),
    }).toEqual(counts);
    expect(rows.userFacts.filter(({ archivedAt }) => archivedAt !== null)).toHaveLength(ARCHIVED);
  });

  test("nor does the document, nor that of the org", async () => {
    const { text } = await fetchExport(app, "org=1", { key });
    const { sections, totals } = JSON.parse(text);
    for (const [name, count] of Object.entries(totals))
      expect([name, sections[name].length]).toEqual([name, count]);
    expect(totals).toMatchObject({ userFacts: FACTS, messages: MESSAGES, entries: ENTRIES });
  });

  test("rows come in one order, whatever the database", () => {
    const keys = whole.rows.entries.map(({ key }) => String(key));
    expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? -1 : 1)));
    const times = whole.rows.messages.map(({ sentAt, id }) => `${sentAt} ${id}`);
    expect(times).toEqual(times.toSorted());
  });
});
