import { type Claim, claimsOf, scoreOf } from "./claims.ts";
import type { FactEvent } from "./event.ts";
import { sameMeaning } from "./meaning.ts";
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
 * What a statement did when it was made: judged against the rows written before it, so that a repeated call gets the
 * first answer. That a claim was observed earlier than another does not keep the two from contradicting each other.
 *
 * @param live rows of the same scope, agent and key
 */
export function verdictOn(
  row: FactRow,
  live: readonly FactRow[],
): { verdict: Verdict; others: Claim[] } {
  const before = live.filter((other) => other.id !== row.id && wasWrittenBefore(other, row));
  const claims = claimsOf(before, row.createdAt);
  const others = claims.filter(({ value }) => !sameMeaning(value, row.value));
  const confirmed = others.length < claims.length;
  const own = claimsOf([...before, row], row.createdAt).find(({ rows }) => rows.includes(row));
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

/** A row that had expired before it was written belongs to no live claim. */
function scoreOfRow(row: FactRow): number {
  return score(row.confidence, daysBetween(row.observedAt, row.createdAt), row.halfLifeDays);
}

function wasWrittenBefore(a: FactRow, b: FactRow): boolean {
  return a.createdAt < b.createdAt || (+a.createdAt === +b.createdAt && a.id < b.id);
}
