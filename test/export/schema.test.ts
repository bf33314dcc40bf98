import { readdirSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns, getTableName } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { exportSchema } from "../../src/export/document.ts";
import { type AnySection, fieldsOf, LISTED_NAMES, SECTION_NAMES } from "../../src/export/rows.ts";
import { TABLES } from "../../src/export/tables-repository.ts";
import { src } from "../support/sources.ts";

/** Tables that no export holds, each with the reason. */
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  channel_updates: "hashes of deliveries, kept while a platform may repeat them",
  embedding_models: "of no org",
  forward_deliveries: "messages on their way to the runtime; the messages are there",
  forward_queues: "what waits to be forwarded",
  idempotent_calls: "answers to calls, kept for a day",
  jobs: "work of the server, with ids alone",
  job_runs: "what work was done",
  link_codes: "secrets that are good for minutes",
  possible_duplicates: "found again from the facts",
  search_documents: "the index, made again from messages and facts",
  search_postings: "the index",
  search_scopes: "the index",
  sessions: "secrets that are good for hours",
  vector_deletions: "vectors that are to be deleted",
};

/** Columns that no export holds, each with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "orgs.id": "in the header",
  "orgs.slug": "in the header",
  "orgs.name": "in the header",
  "orgs.created_at": "in the header",
  "api_keys.hash": "what the key opens with",
  "memory_kv.bytes": "counted from the value",
  "chat_messages.search_due": "the index is made again",
  "org_facts.search_text": "made from the fact",
  "org_facts.consolidated_at": "each server folds by itself",
  "store_facts.search_text": "made from the fact",
  "store_facts.consolidated_at": "each server folds by itself",
  "user_facts.search_text": "made from the fact",
  "user_facts.consolidated_at": "each server folds by itself",
};

async function tables(): Promise<PgTable[]> {
  const found: PgTable[] = [];
  for (const file of readdirSync(join(src, "db/schema"))) {
    const module: Record<string, unknown> = await import(join(src, "db/schema", file));
    found.push(...Object.values(module).filter((value) => value instanceof PgTable));
  }
  return found;
}

test("every column of every table is exported, or left out for a reason", async () => {
  const sections: readonly AnySection[] = [...SECTION_NAMES, ...LISTED_NAMES];
  const missing: string[] = [];
  const all: string[] = [];
  for (const table of await tables()) {
    const name = getTableName(table);
    const section = sections.find((one) => TABLES[one].table === table);
    all.push(name);
    if (!section) {
      if (!(name in NOT_EXPORTED)) missing.push(name);
      continue;
    }
    for (const [field, column] of Object.entries(getTableColumns(table))) {
      all.push(`${name}.${column.name}`);
      if (field === "orgId" || fieldsOf(section).includes(field)) continue;
      if (!(`${name}.${column.name}` in LEFT_OUT)) missing.push(`${name}.${column.name}`);
    }
  }
  expect(missing).toEqual([]);
  const named = [...Object.keys(NOT_EXPORTED), ...Object.keys(LEFT_OUT)];
  expect(named.filter((name) => !all.includes(name))).toEqual([]);
});

test("docs/export.schema.json is the schema that the server serves", async () => {
  await expect(`${JSON.stringify(exportSchema(), null, 2)}\n`).toMatchFileSnapshot(
    "../../docs/export.schema.json",
  );
});
