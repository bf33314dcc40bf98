import { v7 } from "uuid";
import { Database } from "../../src/db/client.ts";
import { orgs } from "../../src/db/schema/orgs.ts";
import { createDatabase, type Engine } from "../support/database.ts";

/** A database of a test file's own, without the rest of the server; each test takes orgs of its own. */
export async function openDatabase(engine: Engine) {
  const created = await createDatabase(engine);
  const database = await Database.open({
    url: created.env.DATABASE_URL,
    dataDir: created.env.DATA_DIR ?? "",
  });
  const { transactions } = database;
  return {
    database,
    transactions,
    env: created.env,
    async newOrg(): Promise<{ orgId: string }> {
      const orgId = v7();
      const org = { id: orgId, slug: `org-${orgId}`, name: "Org", createdAt: new Date(0) };
      await transactions.system("bootstrap", (tx) => tx.insert(orgs).values(org));
      return { orgId };
    },
    async close() {
      await database.close();
      await created.dispose();
    },
  };
}

export type TestDatabase = Awaited<ReturnType<typeof openDatabase>>;
