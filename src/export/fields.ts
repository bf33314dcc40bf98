import { z } from "zod";

/** An internal id as the database prints it: another spelling of it would come back changed. */
export const Id = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "must be an id, in lower case");

/** A point in time as the export prints it, to the millisecond, in UTC. */
export const At = z.iso
  .datetime({ precision: 3 })
  .refine((text) => !text.startsWith("0000"), "the year 0 is no date");

/** Any JSON value. What it must not hold is found in the text of its line. */
export const Json = z.unknown().refine((value) => value !== undefined, "is missing");

/** A text of any length: a line of the file has a limit of its own. */
export const Text = z.string();
/** What may become part of an index, whose rows have to stay small. */
export const Short = z.string().max(512);
export const Count = z.int32().nonnegative();
/** YYYY-MM-DD. */
export const Day = z.iso.date();
