const DAY_MS = 86_400_000;
/** Below this a claim is archived, unless it is pinned. */
const FADED_BELOW = 0.2;

/** Days from one point in time to a later one; negative where it is not later. */
export function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS;
}

/** The point in time `days` (fractions allowed) after another, in whole milliseconds. */
export function addDays(at: Date, days: number): Date {
  return new Date(at.getTime() + Math.round(days * DAY_MS));
}

/**
 * `confidence × 0.5^(age / half-life)`. A claim dated in the future counts as made now: without that its score would
 * grow without limit.
 *
 * @param ageDays days since the last confirmation
 * @returns 0 to `confidence`
 */
export function score(confidence: number, ageDays: number, halfLifeDays: number): number {
  return confidence * 0.5 ** (Math.max(0, ageDays) / halfLifeDays);
}

/**
 * The first millisecond at which the score is below the threshold: the formula solved for the age, then moved by what
 * floating point rounded, so that it agrees with `score` exactly.
 */
export function fadesAt(confidence: number, lastConfirmed: Date, halfLifeDays: number): Date {
  const start = lastConfirmed.getTime();
  const faded = (ms: number) =>
    score(confidence, (ms - start) / DAY_MS, halfLifeDays) < FADED_BELOW;
  if (faded(start)) return lastConfirmed;
  let at = start + Math.ceil(halfLifeDays * Math.log2(confidence / FADED_BELOW) * DAY_MS);
  while (!faded(at)) at++;
  while (at > start && faded(at - 1)) at--;
  return new Date(at);
}
