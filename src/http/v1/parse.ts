import type { z } from "zod";
import { AppError } from "../../errors.ts";

/** @throws AppError INVALID_INPUT that names every fault */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    refuseUnstorable(parsed.data, []);
    return parsed.data;
  }
  if (value === undefined) throw new AppError("INVALID_INPUT", "the body is missing; send JSON");
  const faults = parsed.error.issues.map((issue) =>
    issue.path.length > 0
      ? `${issue.path.join(".")}: ${isMissing(issue, value) ? "is missing" : issue.message}`
      : issue.message,
  );
  throw new AppError("INVALID_INPUT", faults.join("; "));
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isMissing({ code, path }: z.core.$ZodIssue, value: unknown): boolean {
  if (code !== "invalid_type" && code !== "invalid_value") return false;
  const found = path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  );
  return found === undefined;
}

/** JSON escapes can spell what neither UTF-8 nor the database holds; the driver would store U+FFFD instead. */
function refuseUnstorable(value: unknown, path: readonly string[]): void {
  if (typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))) {
    throw new AppError(
      "INVALID_INPUT",
      `${path.join(".")}: U+0000 or half of a surrogate pair cannot be stored`,
    );
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) refuseUnstorable(part, [...path, key]);
}
