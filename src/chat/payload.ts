import { createHash } from "node:crypto";
import { canonicalJson } from "../canonical-json.ts";
import { MAX_NESTING } from "../nesting.ts";
import { type Payload, storable } from "./message.ts";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own and not null, so that a key such as `constructor` is never found on the prototype. */
export function has(record: Record<string, unknown>, key: string): boolean {
  return Object.hasOwn(record, key) && record[key] !== null && record[key] !== undefined;
}

/** What a platform's field is kept as; undefined: cleaned like any other. */
export type FieldRule = (key: string, value: unknown) => unknown;

/**
 * A copy of any parsed JSON that can be stored and shown: every string and key storable, fields as `rule` has them,
 * nothing below 200 levels (null in its place). Never throws.
 */
export function cleanJson(value: unknown, rule?: FieldRule, depth = 0): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || depth >= MAX_NESTING) return null;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, rule, depth + 1));
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const kept = rule?.(key, item);
      return [storable(key), kept === undefined ? cleanJson(item, rule, depth + 1) : kept];
    }),
  );
}

/** SHA-256 of a JSON value, hex: the same for one content in whatever order its keys came. */
export function digestOf(content: Payload): string {
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}
