import type { ArchivedReason, Claim } from "./claims.ts";
import { type FactEvent, type FactEventKind, SYSTEM } from "./event.ts";
import type { Tier } from "./fact.ts";
import type { KeyState } from "./fold.ts";
import type { FactRow, StoredFact } from "./row.ts";

/** What the last fold made of a row. What is said of the claim stands on its oldest row only. */
export interface StoredState {
  /** Null = the key changed since. */
  readonly consolidatedAt: Date | null;
  readonly mergedInto: string | null;
  readonly archivedAt: Date | null;
  readonly archivedReason: ArchivedReason | null;
  readonly supersededBy: string | null;
  readonly pinned: boolean;
  readonly contested: boolean;
  readonly confirmationCount: number;
  readonly claimConfidence: number | null;
  readonly claimTags: readonly string[] | null;
  readonly claimTier: Tier | null;
  readonly claimHalfLifeDays: number | null;
  readonly lastConfirmedAt: Date | null;
  readonly fadesAt: Date | null;
  readonly expiresAt: Date | null;
}

/** A row that no fold has seen. */
export const UNFOLDED: StoredState = {
  consolidatedAt: null,
  mergedInto: null,
  archivedAt: null,
  archivedReason: null,
  supersededBy: null,
  pinned: false,
  contested: false,
  confirmationCount: 1,
  claimConfidence: null,
  claimTags: null,
  claimTier: null,
  claimHalfLifeDays: null,
  lastConfirmedAt: null,
  fadesAt: null,
  expiresAt: null,
};

/** The state of every row of a key that stays, by its id. */
export function statesOf({ claims }: KeyState, now: Date): Map<string, StoredState> {
  const states = new Map<string, StoredState>();
  for (const claim of claims) {
    for (const row of claim.rows) {
      states.set(
        row.id,
        row.id === claim.factId ? claimState(claim, now) : mergedState(claim, row, now),
      );
    }
  }
  return states;
}

function claimState(claim: Claim, now: Date): StoredState {
  return {
    consolidatedAt: now,
    mergedInto: null,
    archivedAt: claim.archivedAt,
    archivedReason: claim.archivedReason,
    supersededBy: claim.supersededBy,
    pinned: claim.pinned,
    contested: claim.state === "contested",
    confirmationCount: claim.confirmations,
    claimConfidence: claim.confidence,
    claimTags: claim.tags,
    claimTier: claim.tier,
    claimHalfLifeDays: claim.halfLifeDays,
    lastConfirmedAt: claim.lastConfirmed,
    fadesAt: claim.fadesAt,
    expiresAt: claim.expiresAt,
  };
}

function mergedState(claim: Claim, row: FactRow, now: Date): StoredState {
  return {
    ...UNFOLDED,
    consolidatedAt: now,
    mergedInto: claim.factId,
    archivedAt: row.observedAt,
    archivedReason: "merged",
  };
}

/** Gives rows the states of a fold, and notes what that says happened. */
export function advance(
  rows: readonly StoredFact[],
  folded: KeyState,
  at: Date,
  events: FactEvent[],
): StoredFact[] {
  const states = statesOf(folded, at);
  return rows.map((row) => {
    const state = states.get(row.id);
    if (!state) return row;
    const event = eventBetween(row, state, at);
    if (event) events.push(event);
    return { ...row, state };
  });
}

/** The states that have to be written, by row: those that differ from the stored ones in more than the time of the fold. */
export function changedStates(
  before: readonly StoredFact[],
  after: readonly StoredFact[],
): Map<string, StoredState> {
  const stored = new Map(before.map(({ id, state }) => [id, state]));
  const changed = after.filter(({ id, state }) => {
    const was = stored.get(id);
    return was === undefined || differs(was, state);
  });
  return new Map(changed.map(({ id, state }) => [id, state]));
}

function differs(a: StoredState, b: StoredState): boolean {
  const comparable = (state: StoredState) =>
    JSON.stringify({ ...state, consolidatedAt: undefined });
  return a.consolidatedAt === null || comparable(a) !== comparable(b);
}

/** What a new state says happened to a row, for its audit trail; undefined where nothing did. */
function eventBetween(row: StoredFact, next: StoredState, now: Date): FactEvent | undefined {
  const kind = happened(row.state, next);
  return (
    kind && {
      kind,
      factId: row.id,
      actor: SYSTEM,
      agentId: row.agentId,
      reason: reasonOf(next),
      at: next.archivedAt ?? now,
    }
  );
}

function reasonOf({ mergedInto, supersededBy }: StoredState): string | null {
  if (mergedInto !== null) return `same as ${mergedInto}`;
  return supersededBy === null ? null : `by ${supersededBy}`;
}

function happened(before: StoredState, next: StoredState): FactEventKind | undefined {
  if (next.mergedInto !== null) return before.mergedInto === next.mergedInto ? undefined : "merged";
  if (next.archivedReason === before.archivedReason) return undefined;
  if (next.archivedReason === null) return "restored";
  // Anything else was a person's decision or an edited source: written where it was made.
  const { archivedReason: reason } = next;
  return reason === "superseded" || reason === "faded" ? reason : undefined;
}
