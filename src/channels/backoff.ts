const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After each failure in turn; the last one again and again. Somebody waits in a chat: the first minute is dense. */
const WAITS_MS = [
  ...[0, 1, 2, 5, 15, 30, 60].map((seconds) => seconds * SECOND_MS),
  ...[5, 30, 60].map((minutes) => minutes * MINUTE_MS),
];
/** So that what failed together does not come back together. */
const JITTER = 0.2;
const LONGEST_ASKED_MS = HOUR_MS;

/** What is not taken for so long is given up. */
export const MAX_AGE_MS = 24 * HOUR_MS;

/**
 * How long to wait after the given number of failures, and not less than the receiver asked for, up to an hour.
 *
 * @param random from 0 to 1
 */
export function waitAfter(failures: number, askedMs: number | undefined, random: number): number {
  const wait = WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] ?? 0;
  const own = Math.round(wait * (1 + JITTER * random));
  return Math.max(own, Math.min(askedMs ?? 0, LONGEST_ASKED_MS));
}

/** Milliseconds that a `Retry-After` header asks for: seconds, or a date. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
