import { claimOf, fold } from "./fold.ts";
import type { History } from "./key.ts";
import { isLive } from "./life.ts";
import { daysBetween, score } from "./score.ts";

const DAY_MS = 86_400_000;
/** Points in time at which a key is folded anew: the newest of its changes. */
const MOST_STEPS = 60;
/** Points between two of them; a decay drawn with these looks smooth. */
const SAMPLES = 24;
/** What is shown of the future of a claim that never fades nor expires, at least. */
const AHEAD_DAYS = 30;

interface CurvePoint {
  readonly at: Date;
  /** Of the claim, or undefined where it was not live. */
  readonly score: number;
}

/** A fact's score over time: from its first statement until it fades or expires. */
export interface ScoreCurve {
  readonly from: Date;
  readonly until: Date;
  readonly now: Date;
  /** In time order; at a statement there are two, before and after it. */
  readonly points: readonly CurvePoint[];
  /** When somebody said it. */
  readonly said: readonly Date[];
}

/**
 * The score of a row's claim over time, as the fold had it at each moment and as it will be if nobody says anything any
 * more. While a claim is put away or superseded its score goes on all the same: that is what taking it back would begin
 * with.
 */
export function scoreCurve(
  { rows, decisions }: History,
  rowId: string,
  now: Date,
): ScoreCurve | undefined {
  const own = claimOf(fold(rows, decisions, now), rowId);
  if (!own) return undefined;
  const from = own.firstSeen;
  const until = endOf(own, from, now);
  const changes = [...rows.map(({ observedAt }) => observedAt), ...decisions.map(({ at }) => at)];
  const steps = [from, ...times(changes, from, now), now];
  const points: CurvePoint[] = [];
  for (const [n, step] of steps.entries()) {
    const claim = claimOf(fold(rows, decisions, step), own.factId);
    if (!claim) continue;
    const end = steps[n + 1] ?? until;
    for (const at of sampled(step, end)) {
      const age = daysBetween(claim.lastConfirmed, at);
      points.push({ at, score: score(claim.confidence, age, claim.halfLifeDays) });
    }
  }
  return { from, until, now, points, said: own.rows.map(({ observedAt }) => observedAt) };
}

/** A little beyond the moment that a claim leaves by itself, or as far ahead as it is old. */
function endOf(claim: NonNullable<ReturnType<typeof claimOf>>, from: Date, now: Date): Date {
  const ends = [claim.fadesAt, claim.expiresAt].filter((at) => at !== null && at > now) as Date[];
  const ahead = Math.max(AHEAD_DAYS * DAY_MS, now.getTime() - from.getTime());
  if (!isLive(claim.state) || ends.length === 0) return new Date(now.getTime() + ahead);
  return new Date(Math.min(...ends.map((at) => at.getTime())));
}

/** Between two points in time, each once, the newest of many, in order. */
function times(all: readonly Date[], from: Date, to: Date): Date[] {
  const inside = all.filter((at) => at > from && at < to).map((at) => at.getTime());
  return [...new Set(inside)]
    .sort((a, b) => a - b)
    .slice(-MOST_STEPS)
    .map((ms) => new Date(ms));
}

function sampled(from: Date, to: Date): Date[] {
  const span = to.getTime() - from.getTime();
  if (span <= 0) return [from];
  return Array.from(
    { length: SAMPLES + 1 },
    (_, n) => new Date(from.getTime() + (span * n) / SAMPLES),
  );
}
