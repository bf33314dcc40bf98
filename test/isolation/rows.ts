import { sql } from "drizzle-orm";
import type { Transactions } from "../../src/db/tenant.ts";

/** Every row of an org, table by table, as JSON text: two of these are equal exactly when nothing changed. */
export function rowsOf(
  transactions: Transactions,
  orgId: string,
): Promise<Record<string, string[]>> {
  return transactions.system("operator", async (tx) => {
    const tables = await tx.execute<{ name: string; tenant: string }>(sql`
      select c.relname as name, case when c.relname = 'orgs' then 'id' else 'org_id' end as tenant
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = 'public' and (c.relname = 'orgs' or exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id'))
      order by c.relname`);
    const found: Record<string, string[]> = {};
    for (const { name, tenant } of tables) {
      const rows = await tx.execute<{ row: string }>(sql`
        select row_to_json(t)::text as row from ${sql.identifier(name)} t
        where ${sql.identifier(tenant)} = ${orgId} order by 1`);
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  });
}
