import type { FactScopeName } from "./fact.ts";
import type { PlacedRow } from "./row.ts";

/** What was learned from one message. */
export interface SourcedFact {
  readonly factId: string;
  readonly scope: FactScopeName;
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  /** false: it is put away, or the message was edited since. */
  readonly counts: boolean;
}

export function sourcedFact({ scope, row }: PlacedRow): SourcedFact {
  const { id: factId, agentId, key, value, withdrawnAt, state } = row;
  const counts = withdrawnAt === null && state.archivedAt === null;
  return { factId, scope: scope.name, agentId, key, value, counts };
}
