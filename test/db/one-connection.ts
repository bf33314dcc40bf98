import postgres from "postgres";
import { openEmbedded } from "../../src/db/embedded/embedded.ts";
import { createDatabase, type Engine } from "../support/database.ts";

export type Sql = postgres.Sql<Record<never, never>>;
export type RawTx = postgres.TransactionSql<Record<never, never>>;

/** A migrated database behind one connection and no code of ours, as its owner. */
export async function openOneConnection(engine: Engine) {
  const created = await createDatabase(engine);
  const url = created.env.DATABASE_URL;
  const shared = { max: 1, prepare: false, fetch_types: false, onnotice: () => {} };
  const embedded = url === undefined ? await openEmbedded(created.env.DATA_DIR ?? "") : undefined;
  const sql = embedded
    ? postgres({ ...embedded.driverOptions, ...shared })
    : postgres(url ?? "", shared);
  return {
    sql: sql as Sql,
    async close() {
      await sql.end();
      await embedded?.close();
      await created.dispose();
    },
  };
}
