import type { Claim } from "./claims.ts";
import type { Decision } from "./decision.ts";
import { claimOf, fold } from "./fold.ts";
import { mayMeanTheSame } from "./guard.ts";
import type { History } from "./key.ts";
import { meaningOf, sameMeaning } from "./meaning.ts";
import type { FactRow } from "./row.ts";

/** Meanings of one claim that are compared: a claim that was found alike that often is left as it is. */
const MEANINGS = 5;

/** A judgement that two rows of one key mean the same. */
export type Judgement = Pick<Decision, "factId" | "replacedBy" | "at">;

/** Two claims of one key with every pair of their values that would have to mean the same. */
export interface Candidate {
  readonly factId: string;
  readonly otherId: string;
  readonly pairs: readonly (readonly [string, string])[];
}

/**
 * The claims that a row's claim is contested by and may be the same as. Every value of one has to pass the guard against
 * every value of the other, or small steps would lead from a value to its contrary.
 */
export function candidatesFor(history: History, factId: string, at: Date): Candidate[] {
  const state = fold(history.rows, history.decisions, at);
  const own = claimOf(state, factId);
  if (own?.state !== "contested") return [];
  return state.claims.flatMap((other) => {
    if (other === own || other.state !== "contested") return [];
    const pairs = pairsOf(own, other);
    const judgement = { factId: own.factId, replacedBy: other.factId, at };
    const isFit = pairs.length > 0 && changes(history, judgement);
    return isFit ? [{ factId: own.factId, otherId: other.factId, pairs }] : [];
  });
}

/** Whether a judgement would make one claim of two; it does not where a person has decided about them. */
export function changes({ rows, decisions }: History, judgement: Judgement): boolean {
  const { factId, replacedBy, at } = judgement;
  const before = fold(rows, decisions, at);
  const own = claimOf(before, factId);
  const other = claimOf(before, replacedBy ?? "");
  if (!own || !other || own === other) return false;
  const after = fold(rows, [...decisions, { ...judgement, id: LAST, kind: "alike" }], at);
  return claimOf(after, own.factId) === claimOf(after, other.factId);
}

/** Sorts behind every id: what was decided in the same millisecond came before. */
const LAST = "~";

function pairsOf(a: Claim, b: Claim): (readonly [string, string])[] {
  const [ofA, ofB] = [a, b].map(({ rows }) => [
    ...new Map(rows.map(({ value }) => [meaningOf(value), value])).values(),
  ]) as [unknown[], unknown[]];
  if (ofA.length > MEANINGS || ofB.length > MEANINGS) return [];
  const pairs: (readonly [string, string])[] = [];
  for (const one of ofA) {
    for (const other of ofB) {
      if (typeof one !== "string" || typeof other !== "string") return [];
      if (!mayMeanTheSame(one, other)) return [];
      pairs.push([one, other]);
    }
  }
  return pairs;
}

/**
 * Judgements that name rows which go, made anew for rows of the same meanings that stay.
 *
 * @param gone rows that are erased, or count no more
 */
export function inherited(
  decisions: readonly Decision[],
  gone: readonly FactRow[],
  left: readonly FactRow[],
): Judgement[] {
  const known = new Map([...gone, ...left].map((row) => [row.id, row]));
  const heirOf = (id: string | null): FactRow | undefined => {
    const row = known.get(id ?? "");
    if (!row || left.includes(row)) return row;
    return left.find(({ value }) => sameMeaning(value, row.value));
  };
  return decisions.flatMap(({ kind, factId, replacedBy, at }) => {
    if (kind !== "alike" || !gone.some(({ id }) => id === factId || id === replacedBy)) return [];
    const [one, other] = [heirOf(factId), heirOf(replacedBy)];
    if (!one || !other) return [];
    const since = Math.max(at.getTime(), one.observedAt.getTime(), other.observedAt.getTime());
    return [{ factId: one.id, replacedBy: other.id, at: new Date(since) }];
  });
}
