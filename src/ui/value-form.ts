import { AppError } from "../errors.ts";
import { MAX_NESTING } from "../nesting.ts";

/** How a person writes a value into a form: as text that is kept as it is, or as JSON. */
export const VALUE_KINDS = ["text", "json"] as const;
type ValueKind = (typeof VALUE_KINDS)[number];

export interface WrittenValue {
  readonly kind: ValueKind;
  readonly text: string;
}

/** What was sent to be a new value and could not be, for the form to show again. */
export interface RefusedEdit {
  readonly written: WrittenValue;
  readonly reason: string;
  readonly fault: string;
}

export function writeValue(value: unknown): WrittenValue {
  return typeof value === "string"
    ? { kind: "text", text: value }
    : { kind: "json", text: JSON.stringify(value, null, 2) };
}

/** @throws AppError INVALID_INPUT for what is not JSON, or cannot be kept as it stands */
export function readValue({ kind, text }: WrittenValue): unknown {
  // Browsers send every line break of a form as CR LF.
  const written = text.replaceAll("\r\n", "\n");
  if (kind === "text") return storable(written);
  try {
    return JSON.parse(written, exactly as (this: unknown, key: string, value: unknown) => unknown);
  } catch (error) {
    // The parser calls itself for each level where it has to report numbers: thousands of them exhaust the stack.
    if (error instanceof RangeError) throw tooDeep(error);
    if (!(error instanceof SyntaxError)) throw error;
    throw notJson(error);
  }
}

function tooDeep(cause: RangeError): AppError {
  const message = `value: nests arrays and objects deeper than ${MAX_NESTING}`;
  return new AppError("INVALID_INPUT", message, { cause });
}

function notJson(cause: SyntaxError): AppError {
  return new AppError("INVALID_INPUT", "value: this is not JSON", {
    cause,
    hint: 'Choose "Text" for plain words; as JSON a text stands in double quotes.',
  });
}

/** Refuses numbers that JavaScript would change: 2^53 and beyond, 1e400, -0. */
function exactly(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  storable(key);
  if (typeof value === "string") return storable(value);
  if (typeof value !== "number") return value;
  const isExact = Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (isExact && !Object.is(value, -0)) return value;
  throw new AppError("INVALID_INPUT", `value: ${context?.source ?? "a number"} cannot be kept`, {
    hint: "Write it as text, in double quotes.",
  });
}

function storable(text: string): string {
  if (text.isWellFormed() && !text.includes("\0")) return text;
  throw new AppError("INVALID_INPUT", "value: U+0000 or half of a surrogate pair cannot be stored");
}
