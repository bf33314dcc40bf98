import type { Tier } from "./fact.ts";
import type { ClaimState } from "./life.ts";
import type { FactRow } from "./row.ts";
import { daysBetween, score } from "./score.ts";

/** Why a claim is not recalled. */
export type ArchivedReason =
  | "merged"
  | "superseded"
  | "faded"
  | "edited"
  | "archived"
  | "withdrawn";

/** What the rows of one key, in one scope and agent's pocket, say together about one value. */
export interface Claim {
  /** The oldest row, which speaks for all. */
  readonly factId: string;
  /** Every row that says this, in the order they were observed. */
  readonly rows: readonly FactRow[];
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly halfLifeDays: number;
  readonly pinned: boolean;
  readonly firstSeen: Date;
  /** The last statement, or a person's decision for it. */
  readonly lastConfirmed: Date;
  /** Independent statements, the first included. */
  readonly confirmations: number;
  readonly state: ClaimState;
  readonly archivedAt: Date | null;
  readonly archivedReason: ArchivedReason | null;
  /** The claim that took its place. */
  readonly supersededBy: string | null;
  /** When it is archived unless somebody confirms it; null while pinned or not live. */
  readonly fadesAt: Date | null;
  readonly expiresAt: Date | null;
}

/** The claim's score at a point in time. A contest does not lower it: that is for ranking. */
export function scoreOf(claim: Claim, at: Date): number {
  return score(claim.confidence, daysBetween(claim.lastConfirmed, at), claim.halfLifeDays);
}
