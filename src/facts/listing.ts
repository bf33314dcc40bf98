import type { ArchivedReason } from "./claims.ts";
import type { FactScopeName, Tier } from "./fact.ts";
import type { FactScope, StoredFact } from "./row.ts";
import { daysBetween, score } from "./score.ts";

/** Below it a claim is listed only on demand. */
export const SHOWN_ABOVE = 0.5;

/** Which claims of one scope to look for. */
export interface FactFilter {
  readonly agentId?: string | undefined;
  readonly tier?: Tier | undefined;
  readonly tag?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly contested?: boolean | undefined;
  /** Words that key, tags or value hold, all of them. */
  readonly search?: string | undefined;
}

/** Which claims of one scope to list. */
export interface FactQuery extends FactFilter {
  /** Those of a score of 0.5 or less too, and after them the archived ones. */
  readonly all?: boolean | undefined;
  /** Archived ones alone, last put away first. */
  readonly archived?: boolean | undefined;
  readonly limit: number;
  /** `nextBefore` of the page before. */
  readonly before?: string | undefined;
}

/** One claim in a list, as its last fold has it. */
export interface ListedFact {
  readonly factId: string;
  readonly scope: FactScopeName;
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly confidence: number;
  readonly score: number;
  readonly confirmations: number;
  readonly contested: boolean;
  readonly pinned: boolean;
  readonly firstSeen: Date;
  readonly lastConfirmed: Date;
  readonly fadesAt: Date | null;
  readonly expiresAt: Date | null;
  readonly archivedReason: ArchivedReason | null;
  readonly reasoning: string | null;
  readonly sourceMessageId: string;
}

export interface FactPage {
  readonly facts: readonly ListedFact[];
  /** The `before` of the next page; null at the end. */
  readonly nextBefore: string | null;
}

/** @param row the row that speaks for its claim */
export function listedFact({ name: scope }: FactScope, row: StoredFact, now: Date): ListedFact {
  const { state } = row;
  const confidence = state.claimConfidence ?? row.confidence;
  const lastConfirmed = state.lastConfirmedAt ?? row.observedAt;
  const halfLife = state.claimHalfLifeDays ?? row.halfLifeDays;
  const hasFaded = state.fadesAt !== null && state.fadesAt <= now;
  return {
    factId: row.id,
    scope,
    agentId: row.agentId,
    key: row.key,
    value: row.value,
    tags: state.claimTags ?? row.tags,
    tier: state.claimTier ?? row.tier,
    confidence,
    score: score(confidence, daysBetween(lastConfirmed, now), halfLife),
    confirmations: state.confirmationCount,
    contested: state.contested,
    pinned: state.pinned,
    firstSeen: row.observedAt,
    lastConfirmed,
    fadesAt: state.fadesAt,
    expiresAt: state.expiresAt,
    archivedReason: state.archivedReason ?? (hasFaded ? "faded" : null),
    reasoning: row.reasoning,
    sourceMessageId: row.sourceMessageId,
  };
}
