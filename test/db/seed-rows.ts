import { randomUUID } from "node:crypto";
import type { Table } from "./catalog.ts";
import type { Sql } from "./one-connection.ts";

export type Row = Readonly<Record<string, unknown>>;

/** One row of every tenant table for a new org, made from what the catalog says about the columns. */
export async function seedOrg(sql: Sql, tables: readonly Table[]): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (const table of tables) {
    if (table.tenant === undefined) continue;
    const values = rowFor(table, rows);
    const [row] = await sql<{ row: string }[]>`
      insert into ${sql(table.name)}
      select * from json_populate_record(null::${sql(table.name)}, ${JSON.stringify(values)}::text::json)
      returning row_to_json(${sql(table.name)}.*)::text as row`;
    rows.set(table.name, JSON.parse(row?.row ?? "null") as Row);
  }
  return rows;
}

function rowFor({ name, columns, references }: Table, rows: ReadonlyMap<string, Row>): Row {
  const referred = references.flatMap(({ columns: from, to, toColumns }) =>
    from.map((column, at) => [column, rows.get(to)?.[toColumns[at] ?? ""]] as const),
  );
  const values = columns.map(({ name: column, type, allowed }) => [
    column,
    allowed ?? sampleOf(type, `${name}.${column}`),
  ]);
  return Object.fromEntries([...values, ...referred]) as Row;
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
    case "double precision":
    case "real":
      return 1;
    case "timestamp with time zone":
      return "2026-03-01T10:00:00Z";
    case "text[]":
    case "real[]":
      return [];
    default:
      throw new Error(`no value for ${place} of type ${type}: add the type here`);
  }
}
