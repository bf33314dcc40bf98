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
    // One statement: this runs hundreds of times.
    const lists = tables.map(
      ({ name, tenant }) => sql`${name}::text, (
        select coalesce(array_agg(row_to_json(t)::text order by row_to_json(t)::text), '{}')
        from ${sql.identifier(name)} t where ${sql.identifier(tenant)} = ${orgId})`,
    );
    const [found] = await tx.execute<{ rows: string }>(
      sql`select json_build_object(${sql.join(lists, sql`, `)})::text as rows`,
    );
    return JSON.parse(found?.rows ?? "{}") as Record<string, string[]>;
  });
}
