/**
 * The value that a share `q` (0 to 1) of the samples does not pass: the nearest rank, so always a sample.
 *
 * @throws RangeError without samples
 */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = Math.max(0, Math.ceil(q * sorted.length) - 1);
  const value = sorted[rank];
  if (value === undefined) throw new RangeError("a quantile of no samples");
  return value;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Starts one place later each round, so that no case always runs beside the same neighbour. */
export function rotated<T>(cases: readonly T[], round: number): T[] {
  const start = round % cases.length;
  return [...cases.slice(start), ...cases.slice(0, start)];
}
