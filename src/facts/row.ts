import type { FactScopeName, Tier } from "./fact.ts";

/** Whose fact it is. The org is part of every form, so that no query can forget its tenant. */
export type FactScope =
  | { readonly name: "org"; readonly orgId: string }
  | { readonly name: "store"; readonly orgId: string; readonly storeId: string }
  | { readonly name: "user"; readonly orgId: string; readonly userId: string };

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

/** One statement as stored. */
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
  readonly writtenBy: string;
  readonly pinned: boolean;
  readonly observedAt: Date;
  readonly createdAt: Date;
  readonly archivedAt: Date | null;
}

/** A row with the scope that it lies in. */
export interface PlacedRow {
  readonly scope: FactScope;
  readonly row: FactRow;
}

/** A row as the driver gives it: JSON as text. */
export type StoredFactRow = Omit<FactRow, "value" | "tier"> & {
  readonly value: string;
  readonly tier: string;
};

export function readRow(stored: StoredFactRow): FactRow {
  return { ...stored, value: JSON.parse(stored.value) as unknown, tier: stored.tier as Tier };
}

export function placedRow(
  name: FactScopeName,
  orgId: string,
  { ownerId, ...stored }: StoredFactRow & { readonly ownerId: string },
): PlacedRow {
  const row = readRow(stored);
  switch (name) {
    case "org":
      return { scope: { name, orgId }, row };
    case "store":
      return { scope: { name, orgId, storeId: ownerId }, row };
    case "user":
      return { scope: { name, orgId, userId: ownerId }, row };
  }
}
