import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChatRepository } from "../../src/chat/repository.ts";
import { Database } from "../../src/db/client.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { createDatabase, onBothDatabases, type TestDatabase } from "../support/database.ts";

const ORG = "00000000-0000-7000-8000-000000000001";
const USER = "00000000-0000-7000-8000-000000000002";
const OTHER = "00000000-0000-7000-8000-000000000003";

/** As if indexed for search already. Half of them at a time: a statement has ten seconds. */
const messages = (from: number, to: number) => `
  insert into chat_messages (id, org_id, user_id, conversation_id, channel, account, direction, kind, text,
      payload, platform_message_id, search_due, sent_at, archived_at)
    select gen_random_uuid(), '${ORG}', case when n % 5 = 0 then '${OTHER}'::uuid else '${USER}'::uuid end,
      'c', 'telegram', 'main', 'inbound', 'text', 'message ' || n, '{}', n::text, false,
      timestamptz '2026-01-01' + n * interval '1 second', now()
    from generate_series(${from}, ${to}) as n`;

const SEED = `
  insert into orgs (id, slug, name, created_at) values ('${ORG}', 'big', 'big', now());
  insert into users (id, org_id, status, created_at) select id::uuid, '${ORG}', 'approved', now()
    from unnest(array['${USER}', '${OTHER}']) as id;
  ${messages(1, 65_000)};
  ${messages(65_001, 130_000)}`;

onBothDatabases((engine) => {
  let created: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    created = await createDatabase(engine);
    database = await Database.open({
      dataDir: created.env.DATA_DIR ?? "",
      url: created.env.DATABASE_URL,
    });
    await database.transactions.system("bootstrap", async (tx) => {
      for (const statement of SEED.split(";")) await tx.execute(sql.raw(statement));
    });
    await database.maintain("vacuum (analyze)");
  });
  afterAll(async () => {
    await database.close();
    await created.dispose();
  });

  const pages = {
    "the newest page": undefined,
    "a page before a time": { sentAt: new Date("2026-01-01T20:00:00Z") },
    "a page before a cursor": { sentAt: new Date("2026-01-01T20:00:00Z"), id: OTHER },
  };
  test.each(Object.entries(pages))(
    "%s of 100,000 messages reads chat_messages_user_time_idx in order, as the app's role",
    async (_name, before) => {
      const plan = await database.transactions.tenant({ orgId: ORG }, (tx: Tx) => {
        const query = new ChatRepository().history({ orgId: ORG }, USER, { limit: 51, before }, tx);
        return tx.execute<{ "QUERY PLAN": string }>(sql`explain ${query.getSQL()}`);
      });
      const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
      expect(text).toContain("Index Scan using chat_messages_user_time_idx");
      expect(text).not.toContain("Sort");
    },
  );
});
