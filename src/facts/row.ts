import type { FactScopeName, Tier } from "./fact.ts";
import type { StoredState } from "./state.ts";

/** Whose fact it is. The org is part of every form, so that no query can forget its tenant. */
export type FactScope =
  | { readonly name: "org"; readonly orgId: string }
  | { readonly name: "store"; readonly orgId: string; readonly storeId: string }
  | { readonly name: "user"; readonly orgId: string; readonly userId: string };

/** A key in one agent's pocket. */
export interface Slot {
  readonly agentId: string;
  readonly key: string;
}

/** The id of the org, store or person that a scope stands for. */
export function ownerOf(scope: FactScope): string {
  switch (scope.name) {
    case "org":
      return scope.orgId;
    case "store":
      return scope.storeId;
    case "user":
      return scope.userId;
  }
}

export function scopeOf(name: FactScopeName, orgId: string, ownerId: string): FactScope {
  switch (name) {
    case "org":
      return { name, orgId };
    case "store":
      return { name, orgId, storeId: ownerId };
    case "user":
      return { name, orgId, userId: ownerId };
  }
}

/** One statement as stored: an input of the fold. */
export interface FactRow {
  readonly id: string;
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly searchText: string;
  readonly confidence: number;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly halfLifeDays: number;
  readonly ttlDays: number | null;
  readonly reasoning: string | null;
  readonly sourceMessageId: string;
  readonly sourceReason: "user-correction" | null;
  /** Hash of the conversation that the source belongs to. */
  readonly conversation: string | null;
  readonly writtenBy: string;
  readonly observedAt: Date;
  readonly createdAt: Date;
  /** When its source was edited: from then on it counts no more. */
  readonly withdrawnAt: Date | null;
}

/** A statement with the state that the last fold gave it. */
export interface StoredFact extends FactRow {
  readonly state: StoredState;
}

/** A row with the scope that it lies in. */
export interface PlacedRow {
  readonly scope: FactScope;
  readonly row: StoredFact;
}

/** A row as the driver gives it: JSON as text, state beside the statement. */
export type StoredFactRow = Omit<FactRow, "value" | "tier"> &
  Omit<StoredState, "claimTier"> & {
    readonly value: string;
    readonly tier: string;
    readonly claimTier: string | null;
  };

export function readRow(stored: StoredFactRow): StoredFact {
  const {
    consolidatedAt,
    mergedInto,
    archivedAt,
    archivedReason,
    supersededBy,
    pinned,
    contested,
    confirmationCount,
    claimConfidence,
    claimTags,
    claimTier,
    claimHalfLifeDays,
    lastConfirmedAt,
    fadesAt,
    expiresAt,
    ...row
  } = stored;
  return {
    ...row,
    value: JSON.parse(row.value) as unknown,
    tier: row.tier as Tier,
    state: {
      consolidatedAt,
      mergedInto,
      archivedAt,
      archivedReason,
      supersededBy,
      pinned,
      contested,
      confirmationCount,
      claimConfidence,
      claimTags,
      claimTier: claimTier as Tier | null,
      claimHalfLifeDays,
      lastConfirmedAt,
      fadesAt,
      expiresAt,
    },
  };
}

export function placedRow(
  name: FactScopeName,
  orgId: string,
  { ownerId, ...stored }: StoredFactRow & { readonly ownerId: string },
): PlacedRow {
  return { scope: scopeOf(name, orgId, ownerId), row: readRow(stored) };
}

/** Rows in the order of the fold: as observed, and of equal times as they came. */
export function compareRows(a: FactRow, b: FactRow): number {
  return a.observedAt.getTime() - b.observedAt.getTime() || (a.id < b.id ? -1 : 1);
}
