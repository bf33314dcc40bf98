/** What is counted of one arm: with memory, or without. */
export interface ArmCounts {
  readonly turns: number;
  readonly up: number;
  readonly down: number;
  readonly regenerated: number;
}

export interface Arm extends ArmCounts {
  /** Thumbs up among the turns that got a thumb; null without any. */
  readonly upRate: number | null;
  /** Regenerated answers among all turns; null without any. */
  readonly regeneratedRate: number | null;
}

const NONE: ArmCounts = { turns: 0, up: 0, down: 0, regenerated: 0 };

/** Both arms with their rates, so that nobody compares counts of arms of different size. */
export function compareArms(counts: { on?: ArmCounts; off?: ArmCounts }): { on: Arm; off: Arm } {
  return { on: armOf(counts.on ?? NONE), off: armOf(counts.off ?? NONE) };
}

function armOf(counts: ArmCounts): Arm {
  const { turns, up, down, regenerated } = counts;
  return {
    ...counts,
    upRate: up + down === 0 ? null : up / (up + down),
    regeneratedRate: turns === 0 ? null : regenerated / turns,
  };
}

/** How far two rates are apart, in points from -1 to 1, with the range that holds the truth in 95 of 100 comparisons. */
export interface Difference {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

interface Share {
  readonly hits: number;
  readonly of: number;
}

/** Below it the range of a rate is no use: it is computed as if rates were spread evenly around their mean. */
const FEWEST = 30;
/** Of a normal distribution: 95 of 100 lie within so many standard deviations. */
const Z_95 = 1.96;
/** A difference that is there shall be seen in 80 of 100 comparisons. */
const Z_80 = 0.84;

/** Rate of `on` less that of `off`; undefined where one of them stands on fewer than 30. */
export function differenceOf(on: Share, off: Share): Difference | undefined {
  if (on.of < FEWEST || off.of < FEWEST) return undefined;
  const [a, b] = [on.hits / on.of, off.hits / off.of];
  const spread = Z_95 * Math.sqrt((a * (1 - a)) / on.of + (b * (1 - b)) / off.of);
  const difference = a - b;
  return { difference, low: difference - spread, high: difference + spread };
}

/** So many are needed in each arm to see a difference of `points` between rates around `rate`. */
export function neededFor(rate: number, points: number): number {
  // A rate at the edge says that there is too little of it, not that nothing varies.
  const p = Math.min(0.9, Math.max(0.1, rate));
  return Math.ceil((2 * (Z_95 + Z_80) ** 2 * p * (1 - p)) / points ** 2);
}
