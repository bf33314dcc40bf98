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
