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

  test("values are stored as the JSON they are, not as text that holds JSON", async () => {
    const values = {
      object: { a: 1 },
      array: [1],
      number: 1,
      string: '{"a":1}',
      boolean: true,
      null: null,
    };
    for (const [key, value] of Object.entries(values)) {
      await app.ok("update_memory", { userId: "1", key, value });
    }
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.execute(sql`select key, json_typeof(value) as type from memory_kv order by key`),
    );
    expect(rows.map((row) => [row.key, row.type])).toEqual(
      Object.keys(values)
        .sort()
        .map((name) => [name, name]),
    );
  });

  test("an entry knows the key, the agent and the identity that wrote it", async () => {
    const key = await app.createKey({ name: "maya's key", defaultAgent: "maya" });
    await app.ok("update_memory", { userId: "web:2", key: "k", value: 1 }, key);
    const [row] = await app.database.transactions.system("operator", (tx) =>
      tx.execute(sql`select kv.agent_id, k.name, i.channel from memory_kv kv
        join api_keys k on k.id::text = kv.written_by
        join channel_identities i on i.id = kv.identity_id where kv.agent_id = 'maya'`),
    );
    expect(row).toEqual({ agent_id: "maya", name: "maya's key", channel: "web" });
  });
});
