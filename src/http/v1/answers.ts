import { z } from "zod";

/** A point in time, in UTC with milliseconds. */
export const Time = z.string().meta({ format: "date-time" });

export const Id = z.string().meta({ format: "uuid" });

/** Of a list: the `before` of the next page; null at the end. */
export const NextBefore = z
  .string()
  .nullable()
  .meta({ description: "The `before` of the next page; null at the end" });

/** Any JSON value. */
export const Json = z.unknown().meta({ description: "Any JSON value" });

/** An answer without a body: 204. */
export const Nothing = z.void();
