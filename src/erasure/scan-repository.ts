import { type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Places } from "./erasure.ts";

/** A table and those of its columns that can hold an id or a text. */
export interface ScannedTable {
  readonly name: string;
  readonly columns: readonly ScannedColumn[];
  /** Pages of eight kilobytes. */
  readonly pages: number;
}

interface ScannedColumn {
  readonly name: string;
  readonly isId: boolean;
}

export interface Wanted {
  /** Internal ids. */
  readonly ids: readonly string[];
  /** What platforms call people. */
  readonly names: readonly string[];
  readonly salt: string;
  readonly hashes: readonly string[];
}

export interface Found {
  readonly left: Places;
  readonly kept: Places;
  readonly alike: Places;
  readonly mentions: Places;
}

/** Rows that name what was erased on purpose, and what makes them so: that they tell nothing. */
const TRACES: Readonly<Record<string, SQL>> = {
  erasures: sql`true`,
  vector_deletions: sql`true`,
  audit_events: sql`t.reason is null and t.details is null`,
  // Why a fact was deleted is kept with it; of an erased person's facts that is gone too.
  memory_events: sql`t.old_value is null and t.new_value is null and (t.reason is null or t.kind = 'deleted')`,
  // Ids alone, and gone within weeks.
  jobs: sql`true`,
  idempotent_calls: sql`true`,
  fact_decisions: sql`true`,
};

/** Reads every table that the catalog knows, over all orgs: needs a system transaction. */
export class ScanRepository {
  /** No list by hand: a table or column of tomorrow is looked through too. */
  async tables(tx: Tx): Promise<ScannedTable[]> {
    const rows = await tx.execute<{ name: string; columns: string; pages: string }>(sql`
      select c.relname as name,
        pg_relation_size(c.oid) / current_setting('block_size')::int as pages,
        (select json_agg(json_build_object('name', a.attname, 'isId', y.typname in ('uuid', '_uuid')) order by a.attnum)
          from pg_attribute a join pg_type y on y.oid = a.atttypid left join pg_type e on e.oid = y.typelem
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            and (y.typname in ('uuid', 'json', 'jsonb', 'bytea', '_uuid') or y.typcategory = 'S'
              or y.typcategory = 'A' and e.typcategory = 'S'))::text as columns
      from pg_class c
      where c.relkind in ('r', 'm') and c.relnamespace = current_schema()::regnamespace order by c.relname`);
    return rows.map(({ name, columns, pages }) => ({
      name,
      columns: JSON.parse(columns ?? "[]") as ScannedColumn[],
      pages: Number(pages),
    }));
  }

  /** Looks through some pages of a table. */
  async look(
    table: ScannedTable,
    pages: { readonly from: number; readonly to: number },
    wanted: Wanted,
    tx: Tx,
  ): Promise<Found> {
    const trace = TRACES[table.name] ?? sql`false`;
    const found: Record<keyof Found, Record<string, number>> = {
      left: {},
      kept: {},
      alike: {},
      mentions: {},
    };
    const counts = table.columns.flatMap(({ name, isId }) => {
      const column = sql`t.${sql.identifier(name)}`;
      const named = isId
        ? sql`${column}::text = any(${sqlArray(wanted.ids)}::text[])`
        : sql`${column}::text like any(array(
            select '%' || id || '%' from unnest(${sqlArray(wanted.ids)}::text[]) id))`;
      const all: { in: keyof Found; of: string; when: SQL }[] = [];
      if (wanted.ids.length > 0) {
        all.push({ in: "left", of: name, when: sql`${named} and not (${trace})` });
        if (table.name in TRACES)
          all.push({ in: "kept", of: name, when: sql`${named} and (${trace})` });
      }
      if (!isId && wanted.hashes.length > 0) {
        all.push({
          in: "alike",
          of: name,
          when: sql`length(${column}::text) between 24 and 10000
            and encode(sha256(convert_to(${wanted.salt} || ${column}::text, 'UTF8')), 'hex')
              = any(${sqlArray(wanted.hashes)}::text[])`,
        });
      }
      if (name === "payload" && wanted.names.length > 0) {
        all.push({
          in: "mentions",
          of: name,
          when: sql`${column}::text ~ ${patternOf(wanted.names)}`,
        });
      }
      return all;
    });
    if (counts.length === 0) return found;
    const selected = counts.map(
      ({ when }, at) => sql`count(*) filter (where ${when}) as ${sql.identifier(`c${at}`)}`,
    );
    const [row] = await tx.execute<Record<string, string>>(sql`
      select ${sql.join(selected, sql`, `)} from ${sql.identifier(table.name)} t
      where t.ctid >= ${`(${pages.from},0)`}::tid and t.ctid < ${`(${pages.to},0)`}::tid`);
    for (const [at, { in: list, of }] of counts.entries()) {
      const rows = Number(row?.[`c${at}`] ?? 0);
      if (rows > 0) found[list][`${table.name}.${of}`] = rows;
    }
    return found;
  }
}

/** As a number or a word of its own. */
function patternOf(names: readonly string[]): string {
  const escaped = names.map((name) => name.replace(/[^\p{L}\p{N}]/gu, "\\$&"));
  return `(^|[^[:alnum:]])(${escaped.join("|")})([^[:alnum:]]|$)`;
}
