import { safeParse, type z } from "zod";
import { describeFault, pathText } from "../json-faults.ts";
import { scanJson } from "../json-scan.ts";
import { isObject } from "./rpc.ts";

type Schema = z.core.$ZodType;
type Path = readonly (string | number)[];

/**
 * Reads what a schema declares as array, object, number or boolean from its JSON text, where a client sent that
 * instead (Claude does), and an integer where an id is declared. Follows the schema: below `z.unknown()` (a
 * memory's value), and where several types are allowed, nothing is touched. Each text is parsed once. Null where a member
 * may be missing and may not be null counts as missing: many clients send one for the other.
 */
export function coerce(schema: Schema, sent: unknown): { value: unknown; problems: string[] } {
  const problems: string[] = [];
  return { value: walk(schema, sent, [], problems), problems };
}

function walk(schema: Schema, sent: unknown, path: Path, problems: string[]): unknown {
  const def = declared(schema);
  if (def.type === "object") {
    const read = typeof sent === "string" ? fromText(sent, "{", path, problems) : sent;
    return isObject(read) ? members(def.shape, read, path, problems) : read;
  }
  if (def.type === "array") {
    const read = typeof sent === "string" ? fromText(sent, "[", path, problems) : sent;
    if (!Array.isArray(read)) return read;
    return read.map((item, index) => walk(def.element, item, [...path, index], problems));
  }
  if (def.type === "number" && typeof sent === "string") return numberOf(sent);
  if (def.type === "boolean" && typeof sent === "string") return booleanOf(sent);
  // Platform ids are numbers on some channels; what is not exact was refused before.
  if (def.type === "string" && Number.isSafeInteger(sent) && isId(path)) return String(sent);
  return sent;
}

function members(
  shape: Readonly<Record<string, Schema>>,
  sent: Readonly<Record<string, unknown>>,
  path: Path,
  problems: string[],
): Record<string, unknown> {
  // Entries, not assignment: `__proto__` stays an own key, for the schema to refuse by name.
  const entries = Object.entries(sent).flatMap(([key, value]) => {
    const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (schema === undefined) return [[key, value]];
    if (value === null && isMissing(schema)) return [];
    return [[key, walk(schema, value, [...path, key], problems)]];
  });
  return Object.fromEntries(entries);
}

/** Whether null stands for nothing: the member may be missing (or has a default) and takes no null of its own. */
function isMissing(schema: Schema): boolean {
  return schema._zod.optin !== undefined && !safeParse(schema, null).success;
}

/** The schema below "may be absent", "may be null", "has a default" and "is transformed". */
function declared(schema: Schema): z.core.$ZodTypes["_zod"]["def"] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ("innerType" in def) return declared(def.innerType);
  return def.type === "pipe" ? declared(def.in) : def;
}

function fromText(text: string, opening: string, path: Path, problems: string[]): unknown {
  if (!text.trimStart().startsWith(opening)) return text;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    problems.push(`${pathText(path)}: this text is not valid JSON; send the value itself.`);
    return text;
  }
  const faults = scanJson(text).map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
  problems.push(...faults.map(describeFault));
  return parsed;
}

function numberOf(text: string): unknown {
  return /^-?\d+(?:\.\d+)?$/.test(text) && scanJson(text).length === 0 ? Number(text) : text;
}

/** As JSON and Python write them. */
function booleanOf(text: string): unknown {
  if (/^[Tt]rue$/.test(text)) return true;
  return /^[Ff]alse$/.test(text) ? false : text;
}

function isId(path: Path): boolean {
  return /Ids?$/.test(String(path.findLast((part) => typeof part === "string") ?? ""));
}
