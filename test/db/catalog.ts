import type { Sql } from "./one-connection.ts";

/** What the database itself says about its tables: a table that nobody listed is found too. */
export interface Table {
  readonly name: string;
  /** The column that says whose a row is; absent on what is no tenant's. */
  readonly tenant: "org_id" | "id" | undefined;
  readonly columns: readonly Column[];
  readonly references: readonly Reference[];
  /** Names of the check constraints. */
  readonly checks: readonly string[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** Numbered by the database itself. */
  readonly numbered: boolean;
  /** The first value that a check constraint allows. */
  readonly allowed: string | undefined;
}

interface Reference {
  readonly name: string;
  readonly columns: readonly string[];
  readonly to: string;
  readonly toColumns: readonly string[];
}

/** Every table outside the system's schemas, tables that others refer to first. */
export async function tablesOf(sql: Sql): Promise<Table[]> {
  const names = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    order by c.relname`;
  const tables = await Promise.all(names.map(({ name }) => describeTable(sql, name)));
  const ordered: Table[] = [];
  while (ordered.length < tables.length) {
    const next = tables.find(
      (table) =>
        !ordered.includes(table) &&
        table.references.every(
          ({ to }) => to === table.name || ordered.some((earlier) => earlier.name === to),
        ),
    );
    if (!next) throw new Error("tables refer to each other in a circle");
    ordered.push(next);
  }
  return ordered;
}

async function describeTable(sql: Sql, name: string): Promise<Table> {
  const columns = await sql<
    { name: string; type: string; required: boolean; numbered: boolean; checks: string | null }[]
  >`
    select a.attname as name, format_type(a.atttypid, null) as type,
      a.attnotnull and not a.atthasdef as required, a.attidentity <> '' as numbered,
      (select string_agg(pg_get_constraintdef(k.oid), ' ') from pg_constraint k
        where k.conrelid = a.attrelid and k.contype = 'c' and a.attnum = any (k.conkey)) as checks
    from pg_attribute a where a.attrelid = ${name}::regclass and a.attnum > 0 and not a.attisdropped
    order by a.attnum`;
  const references = await sql<{ name: string; columns: string; to: string; to_columns: string }[]>`
    select k.conname as name, k.confrelid::regclass::text as to,
      (select string_agg(a.attname, ',' order by o.at) from unnest(k.conkey) with ordinality o(num, at)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = o.num) as columns,
      (select string_agg(a.attname, ',' order by o.at) from unnest(k.confkey) with ordinality o(num, at)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = o.num) as to_columns
    from pg_constraint k where k.conrelid = ${name}::regclass and k.contype = 'f' order by k.conname`;
  const checks = await sql<{ name: string }[]>`
    select conname as name from pg_constraint where conrelid = ${name}::regclass and contype = 'c'`;
  const tenant = columns.some((column) => column.name === "org_id") ? "org_id" : undefined;
  return {
    name,
    tenant: name === "orgs" ? "id" : tenant,
    columns: columns.map(({ checks, ...column }) => ({
      ...column,
      allowed: /'([^']*)'::text/.exec(checks ?? "")?.[1],
    })),
    checks: checks.map((check) => check.name),
    references: references.map((reference) => ({
      name: reference.name,
      to: reference.to,
      columns: reference.columns.split(","),
      toColumns: reference.to_columns.split(","),
    })),
  };
}

/** The tables that hold a tenant's rows. */
export function ownedTables(tables: readonly Table[]): (Table & { tenant: "org_id" | "id" })[] {
  return tables.flatMap((table) =>
    table.tenant === undefined ? [] : [{ ...table, tenant: table.tenant }],
  );
}
