import { type Claim, scoreOf } from "./claims.ts";
import type { FactEvent } from "./event.ts";
import { claimOf, type KeyState } from "./fold.ts";
import { isLive } from "./life.ts";
import type { Remembered } from "./remember.ts";
import type { FactRow } from "./row.ts";
import { daysBetween, score } from "./score.ts";

/** More would tell a model no more than that the key is in dispute. */
const MAX_CONTRADICTIONS = 10;

/** An answer to a statement, with ids in place of values. */
export interface Verdict extends Omit<Remembered, "contradicts"> {
  readonly contradicts: readonly string[];
}

/**
 * What a statement did to its key.
 *
 * @param state the key when the statement was made, with the statement
 */
export function verdictOn(row: FactRow, state: KeyState): { verdict: Verdict; others: Claim[] } {
  const own = claimOf(state, row.id);
  // What a person called true together with others is live and not contested.
  const others =
    own?.state === "live"
      ? []
      : state.claims.filter((claim) => claim !== own && isLive(claim.state));
  const confirmed = own !== undefined && own.rows.length > 1;
  return {
    verdict: {
      factId: row.id,
      outcome: confirmed ? "confirmed" : others.length > 0 ? "contradicts" : "created",
      contradicts: others.slice(0, MAX_CONTRADICTIONS).map(({ factId }) => factId),
      score: own ? scoreOf(own, row.createdAt) : scoreOfRow(row),
    },
    others,
  };
}

/** The event of a new statement; of a contest it keeps the current value of the other side. */
export function eventOf(
  row: FactRow,
  { outcome }: Verdict,
  others: readonly Claim[],
  actor: string,
): FactEvent {
  const current = others[0];
  return {
    kind: outcome === "contradicts" ? "contested" : outcome,
    factId: row.id,
    actor,
    agentId: row.agentId,
    reason: row.reasoning,
    ...(outcome === "contradicts" && current && { oldValue: current.value }),
    newValue: row.value,
    at: row.createdAt,
  };
}

export function wasWrittenBefore(a: FactRow, b: FactRow): boolean {
  return a.createdAt < b.createdAt || (+a.createdAt === +b.createdAt && a.id <= b.id);
}

/** A row that had expired before it was written belongs to no claim. */
function scoreOfRow(row: FactRow): number {
  return score(row.confidence, daysBetween(row.observedAt, row.createdAt), row.halfLifeDays);
}
