import { z } from "zod";
import { AppError } from "../errors.ts";

/** @throws AppError INVALID_INPUT that names every fault */
export function parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
  throw new AppError("INVALID_INPUT", faults.join("; "));
}

/** What was refused and what helps, as one text for the form to show. */
export function faultOf({ message, hint }: AppError): string {
  return [message, hint].filter(Boolean).join(". ");
}

/** A field of a form that was left empty is one that was not filled in. */
export function blank<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => (value === "" ? undefined : value), schema);
}
