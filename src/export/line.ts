import { z } from "zod";
import { describeFault } from "../json-faults.ts";
import { scanJson } from "../json-scan.ts";
import { Header, Totals } from "./document.ts";
import { MAX_LINE_BYTES } from "./imported.ts";
import { LISTED, SECTIONS, type SectionName, schemaOf } from "./rows.ts";

export type Row = Readonly<Record<string, unknown>>;

/** What a line of an export says. */
export type ReadLine =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "totals"; readonly totals: Totals }
  | { readonly kind: "listed"; readonly section: string }
  | { readonly kind: "row"; readonly section: SectionName; readonly row: Row }
  | { readonly kind: "fault"; readonly section?: string; readonly reason: string };

const fault = (reason: string, section?: string): ReadLine => ({
  kind: "fault",
  reason,
  ...(section !== undefined && { section }),
});

/** Reads a line exactly: what JavaScript would change in it is a fault, and so is what the schema does not know. */
export function readLine(text: string): ReadLine {
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) return fault("it is longer than any row");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return fault("it is no JSON");
  }
  const [changed] = scanJson(text);
  if (changed) return fault(describeFault(changed));
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    return fault("it is no line of an export");
  if (Object.hasOwn(parsed, "format")) return readAs(Header, parsed, "header");
  if (Object.hasOwn(parsed, "totals"))
    return readAs(z.strictObject({ totals: Totals }), parsed, "totals");
  return readRow(parsed as Row);
}

function readRow(line: Row): ReadLine {
  const { section, listed, row, ...others } = line;
  const name = section ?? listed;
  const isKnown =
    typeof name === "string" &&
    Object.hasOwn(section === undefined ? LISTED : SECTIONS, name) &&
    Object.keys(others).length === 0 &&
    (section === undefined || listed === undefined);
  if (!isKnown) return fault("it is no line of an export");
  const found = schemaOf(name as SectionName).safeParse(row);
  if (!found.success) return fault(faultsOf(found.error), name);
  // The row as it was sent: what a schema returns is a copy, without a key named __proto__.
  if (hasOwnPrototype(row)) return fault("__proto__: is no field", name);
  return section === undefined
    ? { kind: "listed", section: name }
    : { kind: "row", section: name as SectionName, row: row as Row };
}

function readAs(schema: z.ZodType, parsed: object, name: "header" | "totals"): ReadLine {
  const found = schema.safeParse(parsed);
  if (!found.success) return fault(faultsOf(found.error), name);
  return name === "header"
    ? { kind: "header", header: found.data as Header }
    : { kind: "totals", totals: (found.data as { totals: Totals }).totals };
}

function hasOwnPrototype(row: unknown): boolean {
  return typeof row === "object" && row !== null && Object.hasOwn(row, "__proto__");
}

/** Names the first few: a line that is none has as many faults as fields. */
function faultsOf({ issues }: z.ZodError): string {
  const named = issues
    .slice(0, 3)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  return named.join("; ").slice(0, 500);
}
