import type { Decision } from "./decision.ts";
import type { FactScopeName } from "./fact.ts";
import { type FactScope, ownerOf, type Slot, type StoredFact } from "./row.ts";

/** A key with the scope and the pocket that it lies in. */
export interface Key extends Slot {
  readonly scope: FactScope;
}

/** Keys of one org and one kind of scope: what one statement can ask for. */
export interface Keys {
  readonly orgId: string;
  readonly name: FactScopeName;
  readonly keys: readonly Key[];
}

/** What a fold of one key needs. */
export interface History {
  readonly key: Key;
  readonly rows: readonly StoredFact[];
  readonly decisions: readonly Decision[];
}

/** Which keys are due: all, or only those with rows that have to be deleted. */
export type DueSet = "all" | "expired";

/** Names a key in maps and locks. */
export function nameOf({ scope, agentId, key }: Key): string {
  return JSON.stringify([scope.orgId, scope.name, ownerOf(scope), agentId, key]);
}
