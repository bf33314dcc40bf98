import { z } from "zod";
import { Json } from "./fields.ts";
import { type AnySection, schemaOf } from "./rows.ts";

const jsonFields = new Map<AnySection, ReadonlySet<string>>();

/** The fields of a section that are JSON, which the database keeps as text. */
function jsonFieldsOf(section: AnySection): ReadonlySet<string> {
  const known = jsonFields.get(section);
  if (known) return known;
  const names = Object.entries(schemaOf(section).shape).filter(
    ([, schema]) => (schema instanceof z.ZodOptional ? schema.unwrap() : schema) === Json,
  );
  const fields = new Set(names.map(([name]) => name));
  jsonFields.set(section, fields);
  return fields;
}

/**
 * A row as one line of JSON. What is JSON already is put in as it is kept: to read it would cost time, and the number or
 * the order of keys that JavaScript cannot hold.
 */
export function encodeRow(section: AnySection, row: Readonly<Record<string, unknown>>): string {
  const json = jsonFieldsOf(section);
  const members: string[] = [];
  for (const [field, value] of Object.entries(row)) {
    if (json.has(field)) {
      if (value !== null) members.push(`"${field}":${oneLine(String(value))}`);
    } else members.push(`"${field}":${JSON.stringify(value)}`);
  }
  return `{${members.join(",")}}`;
}

/** Line breaks in JSON can only stand between its parts. */
function oneLine(json: string): string {
  return /[\n\r]/.test(json) ? json.replace(/[\n\r]/g, " ") : json;
}
/** A row of a file as the database takes it. */
export function decodeRow(
  section: AnySection,
  row: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const json = jsonFieldsOf(section);
  const { shape } = schemaOf(section);
  return Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => {
      const value = row[field];
      if (json.has(field)) return [field, field in row ? JSON.stringify(value) : null];
      return [field, typeof value === "string" && isTime(schema) ? new Date(value) : value];
    }),
  );
}

function isTime(schema: unknown): boolean {
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
  return inner instanceof z.ZodISODateTime;
}
