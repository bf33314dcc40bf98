import { randomUUID } from "node:crypto";
import type { Table } from "./catalog.ts";
import type { Sql } from "./one-connection.ts";

export type Row = Readonly<Record<string, unknown>>;

/** What a check ties together over several columns, so that a sample for each would break it. */
const TIED: Readonly<Record<string, (rows: ReadonlyMap<string, Row>) => Row>> = {
  search_documents: (rows) => ({
    ...{ id: rows.get("user_facts")?.id, user_fact_id: rows.get("user_facts")?.id },
    ...{ org_fact_id: null, store_fact_id: null, message_id: null },
  }),
};

/** What every org's rows may refer to and no org has. */
export async function seedShared(sql: Sql): Promise<Map<string, Row>> {
  const [model] = await sql<Row[]>`
    insert into embedding_models (fingerprint, vector_index, dimensions, floor, merge_threshold, state, created_at)
    values ('a model', 'postgres', 2, 0, 1, 'active', now()) returning id`;
  return new Map([["embedding_models", model ?? {}]]);
}

/** One row of every tenant table for a new org, made from what the catalog says about the columns. */
export async function seedOrg(
  sql: Sql,
  tables: readonly Table[],
  shared: ReadonlyMap<string, Row>,
): Promise<Map<string, Row>> {
  const rows = new Map(shared);
  // What outlives its org refers to none, so that its place among the tables may be before the org's.
  const orgFirst = tables.toSorted((a, b) => Number(b.name === "orgs") - Number(a.name === "orgs"));
  for (const table of orgFirst) {
    if (table.tenant === undefined) continue;
    const values = { ...rowFor(table, rows), ...TIED[table.name]?.(rows) };
    const written = sql(table.columns.filter(({ numbered }) => !numbered).map(({ name }) => name));
    const [row] = await sql<{ row: string }[]>`
      insert into ${sql(table.name)} (${written})
      select ${written}
      from json_populate_record(null::${sql(table.name)}, ${JSON.stringify(values)}::text::json)
      returning row_to_json(${sql(table.name)}.*)::text as row`;
    rows.set(table.name, JSON.parse(row?.row ?? "null") as Row);
  }
  return rows;
}

function rowFor({ name, tenant, columns, references }: Table, rows: ReadonlyMap<string, Row>): Row {
  const referred = references.flatMap(({ columns: from, to, toColumns }) =>
    from.map((column, at) => [column, rows.get(to)?.[toColumns[at] ?? ""]] as const),
  );
  const values = columns.map(({ name: column, type, allowed }) => [
    column,
    allowed ?? sampleOf(type, `${name}.${column}`),
  ]);
  const org = tenant === "org_id" ? [["org_id", rows.get("orgs")?.id] as const] : [];
  return Object.fromEntries([...values, ...org, ...referred]) as Row;
}

function sampleOf(type: string, place: string): unknown {
  switch (type) {
    case "uuid":
      return randomUUID();
    case "text":
      return `text ${randomUUID()}`;
    case "json":
    case "jsonb":
      return { seeded: true };
    case "boolean":
      return false;
    case "integer":
    case "bigint":
    case "smallint":
    case "double precision":
    case "real":
      return 1;
    case "timestamp with time zone":
      return "2026-03-01T10:00:00Z";
    case "text[]":
    case "real[]":
      return [];
    case "vector":
      return "[1,2]";
    default:
      throw new Error(`no value for ${place} of type ${type}: add the type here`);
  }
}
