import { z } from "zod";

const Iso = z.iso.datetime({ offset: true });
/** Date, time with seconds, offset. Clients also send lower-case t and z, `+0200` and `+02`. */
const LOOSE =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)$/;

/**
 * Reads an ISO 8601 point in time with seconds and an offset. A fraction finer than a millisecond rounds up, so that
 * "before" such a point still includes what happened in the millisecond it lies in.
 *
 * @returns undefined when the text is no such point in time
 */
export function parseInstant(text: string): Date | undefined {
  const match = LOOSE.exec(text);
  if (!match) return undefined;
  const [, date, time, fraction = "", zulu, hours, minutes = "00"] = match;
  const whole = `${date}T${time}${zulu ? "Z" : `${hours}:${minutes}`}`;
  if (!Iso.safeParse(whole).success) return undefined;
  const milliseconds = Math.ceil(Number(`0.${fraction || "0"}`) * 1000);
  const instant = new Date(Date.parse(whole) + milliseconds);
  const year = instant.getUTCFullYear();
  // Years of four digits are what every reader of an answer takes.
  return year >= 1 && year <= 9999 ? instant : undefined;
}

export const INSTANT_HINT = "Use ISO 8601 with seconds and offset, e.g. 2026-03-01T10:00:00Z.";

/** A tool or route parameter that is a point in time. */
export const Instant = z
  .string()
  .max(40)
  .transform((text, context) => {
    const instant = parseInstant(text);
    if (instant) return instant;
    context.addIssue({ code: "custom", message: `is not a point in time. ${INSTANT_HINT}` });
    return z.NEVER;
  });
