import { type Claim, scoreOf } from "../facts/claims.ts";
import { isLive } from "../facts/life.ts";
import type { FactScope } from "../facts/row.ts";
import type { Hit } from "./fusion.ts";

/** Disputed claims stand behind undisputed ones of the same score. */
export const CONTESTED = 0.5;

export interface Candidate {
  readonly scope: FactScope;
  readonly claim: Claim;
  /** How well the claim itself answers the query; undefined where it does not, or there is none. */
  readonly hit: Hit | undefined;
  /** How well its key answers the query, by its best claim, 0 to 1; 0 where it does not, or there is none. */
  readonly match: number;
  /** Of the claim's line, as counted when it was written. */
  readonly tokens?: number | null | undefined;
}

export interface Ranked extends Candidate {
  readonly rank: number;
}

/**
 * The one place that orders what was found: best match, then score, then last confirmed, then id. Values of one key
 * stay together, the current one first, whichever of them matched.
 *
 * @param rankedAt when the claims last changed: the wall clock would make the order move while nothing happens
 */
export function orderCandidates(candidates: readonly Candidate[], rankedAt: Date): Ranked[] {
  const ranked = candidates.map((candidate) => ({
    ...candidate,
    rank: rankOf(candidate, rankedAt),
  }));
  return [...Map.groupBy(ranked, slotOf).values()]
    .map((group) => ({
      best: group.reduce((a, b) => (compare(b, a) < 0 ? b : a)),
      group: group.toSorted(byCurrency),
    }))
    .sort((a, b) => compare(a.best, b.best))
    .flatMap(({ group }) => group);
}

/** Names the key that a claim is a value of. */
export function slotOf({ scope, claim }: Pick<Candidate, "scope" | "claim">): string {
  return JSON.stringify([scope.name, claim.agentId, claim.key]);
}

function rankOf({ claim }: Candidate, rankedAt: Date): number {
  return scoreOf(claim, rankedAt) * (claim.state === "contested" ? CONTESTED : 1);
}

function compare(a: Ranked, b: Ranked): number {
  return (
    b.match - a.match ||
    b.rank - a.rank ||
    b.claim.lastConfirmed.getTime() - a.claim.lastConfirmed.getTime() ||
    (a.claim.factId < b.claim.factId ? -1 : 1)
  );
}

/** Live before archived, then as `fold` has them: last confirmed first, and of equal times the later row. */
function byCurrency(a: Ranked, b: Ranked): number {
  const last = (ranked: Ranked) => ranked.claim.rows.at(-1)?.id ?? "";
  return (
    Number(isLive(b.claim.state)) - Number(isLive(a.claim.state)) ||
    b.claim.lastConfirmed.getTime() - a.claim.lastConfirmed.getTime() ||
    (last(a) > last(b) ? -1 : 1)
  );
}
