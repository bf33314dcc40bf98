import { searchTextOf } from "../facts/search-text.ts";
import { decodeRow } from "./encoding.ts";
import { STATE_FIELDS } from "./fact-rows.ts";
import type { Row } from "./line.ts";
import { fieldsOf, type SectionName } from "./rows.ts";

/**
 * Stands in `consolidated_at` of facts while an import goes on: a key must not be folded before all of its statements and
 * decisions are there, or its trail would tell of changes that never were.
 */
export const BEING_IMPORTED = new Date(0);

const FACTS: readonly SectionName[] = ["orgFacts", "storeFacts", "userFacts"];

/** A row of a file with what no file holds, because it follows from the rest. */
export function restoredRow(section: SectionName, row: Row): Record<string, unknown> {
  const stored = decodeRow(section, row);
  if (FACTS.includes(section)) {
    const fact = row as { key: string; tags: string[]; value: unknown };
    return { ...stored, searchText: searchTextOf(fact), consolidatedAt: BEING_IMPORTED };
  }
  if (section === "entries") return { ...stored, bytes: Buffer.byteLength(String(stored.value)) };
  if (section === "messages")
    return { ...stored, searchDue: Boolean(row.text && row.userId) && !row.optedOut };
  return stored;
}

/** The fields in which a stored row is another than a file's. What a fold makes of a fact is no difference. */
export function differences(section: SectionName, row: Row, stored: Row): string[] {
  const wanted = decodeRow(section, row);
  return fieldsOf(section).filter(
    (field) =>
      !(FACTS.includes(section) && STATE_FIELDS.includes(field)) &&
      spelled(wanted[field]) !== spelled(stored[field]),
  );
}

function spelled(value: unknown): string {
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}
