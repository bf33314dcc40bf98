import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

/** What outlives its org: the chain itself, and what an index elsewhere has still to delete. */
const OUTLIVES = ["erasures", "vector_deletions"];

/** Deletes an org by what the catalog says, so that a table of tomorrow is among its tables too. */
export class OrgErasureRepository {
  /** The tables that hold rows of an org, those first that nothing refers to. */
  async tables(tx: Tx): Promise<string[]> {
    const rows = await tx.execute<{ name: string }>(sql`
      with recursive owned as (
        select c.oid, c.relname as name from pg_class c
        where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped)),
      -- How long the longest chain of references to a table is; a table that refers to itself does not count.
      depth(oid, at) as (
        select oid, 0 from owned
        union select k.confrelid, d.at + 1 from depth d
          join pg_constraint k on k.conrelid = d.oid and k.contype = 'f' and k.confrelid <> k.conrelid
        where d.at < 30)
      select name from owned join depth using (oid) group by name order by max(at), name`);
    return rows.map(({ name }) => name).filter((name) => !OUTLIVES.includes(name));
  }

  /** Some of an org's rows in a table. @returns how many; fewer than `limit` when these were the last */
  async deleteSome({ orgId }: Scope, table: string, limit: number, tx: Tx): Promise<number> {
    const name = sql.identifier(table);
    const rows = await tx.execute(sql`
      delete from ${name} where org_id = ${orgId} and ctid = any(array(
        select ctid from ${name} where org_id = ${orgId} limit ${limit})) returning 1`);
    return rows.length;
  }

  /** Holds the org's row until the end. @returns false when it is gone */
  async hold({ orgId }: Scope, tx: Tx): Promise<boolean> {
    const rows = await tx.execute(sql`select 1 from orgs where id = ${orgId} for update`);
    return rows.length > 0;
  }

  async delete({ orgId }: Scope, tx: Tx): Promise<number> {
    const rows = await tx.execute(sql`delete from orgs where id = ${orgId} returning 1`);
    return rows.length;
  }
}
