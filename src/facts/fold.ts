import { type Chain, chainsOf, type Step } from "./chains.ts";
import type { Claim } from "./claims.ts";
import type { Decision } from "./decision.ts";
import { isLive } from "./life.ts";
import { OpenKey } from "./open-key.ts";
import { compareRows, type FactRow } from "./row.ts";
import { addDays } from "./score.ts";

/** What a key's history comes to at a point in time. */
export interface KeyState {
  /** Live and archived ones, the current claim first. */
  readonly claims: readonly Claim[];
  /** Chains that are over, whose rows have to be deleted. They have no say in the claims. */
  readonly expired: readonly Chain[];
}

/**
 * The state of one key in one scope and one agent's pocket: a left fold over its rows and the decisions about them in the
 * order (time, id). It depends on nothing else, so it is the same whatever order they were written in and however often
 * consolidation ran in between. Statements of the same meaning make one claim; different values that live at once are
 * contested; the third statement of the newest archives the others; what faded before it was stated again starts afresh.
 *
 * Source: SPEC §5.
 */
export function fold(rows: readonly FactRow[], decisions: readonly Decision[], at: Date): KeyState {
  const steps = stepsOf(rows, decisions, at);
  const chains = chainsOf(steps);
  const withdrawn = rows.filter((row) => isWithdrawn(row, at)).map(aloneInChain);
  const isOver = ({ expiresAt }: Chain) => expiresAt !== null && expiresAt <= at;
  const chainOf = new Map(
    chains
      .filter((chain) => !isOver(chain))
      .flatMap((chain) => chain.rows.map((row) => [row.id, chain] as const)),
  );
  const key = new OpenKey();
  for (const step of steps) {
    key.passTime(step.at);
    if (step.decision) key.decide(step.decision);
    else {
      const chain = chainOf.get(step.row.id);
      if (chain) key.state(step.row, chain);
    }
  }
  key.passTime(at);
  for (const chain of withdrawn) if (!isOver(chain)) key.withdrawn(chain);
  return {
    claims: key.close().sort(byCurrency),
    expired: [...chains, ...withdrawn].filter(isOver),
  };
}

function stepsOf(rows: readonly FactRow[], decisions: readonly Decision[], at: Date): Step[] {
  const said: Step[] = rows
    .filter((row) => row.observedAt <= at && !isWithdrawn(row, at))
    .toSorted(compareRows)
    .map((row) => ({ at: row.observedAt, row }));
  const decided: Step[] = decisions
    .filter((decision) => decision.at <= at)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1))
    .map((decision) => ({ at: decision.at, decision }));
  return [...said, ...decided].sort((a, b) => a.at.getTime() - b.at.getTime());
}

function isWithdrawn({ withdrawnAt }: FactRow, at: Date): boolean {
  return withdrawnAt !== null && withdrawnAt <= at;
}

/** What was withdrawn says nothing about other rows, and they say nothing about it. */
function aloneInChain(row: FactRow): Chain {
  const { observedAt, ttlDays } = row;
  const expiresAt = ttlDays === null ? null : addDays(observedAt, ttlDays);
  return { rows: [row], expiresAt, pins: [] };
}

/** Live before archived; then last confirmed first, and of equal times the one with the later row. */
function byCurrency(a: Claim, b: Claim): number {
  return (
    Number(isLive(b.state)) - Number(isLive(a.state)) ||
    b.lastConfirmed.getTime() - a.lastConfirmed.getTime() ||
    ((a.rows.at(-1)?.id ?? "") > (b.rows.at(-1)?.id ?? "") ? -1 : 1)
  );
}

/** The claim that a row belongs to, if its key has one for it. */
export function claimOf({ claims }: KeyState, rowId: string): Claim | undefined {
  return claims.find(({ rows }) => rows.some(({ id }) => id === rowId));
}
