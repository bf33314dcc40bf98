import { type ArchivedReason, scoreOf } from "./claims.ts";
import type { FactEvent } from "./event.ts";
import type { FactScopeName, Tier } from "./fact.ts";
import { claimOf, type KeyState } from "./fold.ts";
import { isLive } from "./life.ts";
import type { FactRow, PlacedRow } from "./row.ts";
import { daysBetween, score } from "./score.ts";

/** Statements shown of one claim. */
const STATEMENTS = 50;

/** Where one statement of a claim comes from. */
interface Statement {
  readonly factId: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly sourceMessageId: string;
  readonly writtenBy: string;
  readonly reasoning: string | null;
  readonly observedAt: Date;
  readonly createdAt: Date;
}

/** One fact with its provenance: why it is believed. */
export interface FactRecord {
  readonly factId: string;
  readonly scope: FactScopeName;
  readonly storeId?: string;
  readonly userId?: string;
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly confidence: number;
  readonly halfLifeDays: number;
  readonly score: number;
  readonly pinned: boolean;
  readonly firstSeen: Date;
  readonly lastConfirmed: Date;
  readonly confirmations: number;
  readonly contested: boolean;
  /** When it is archived unless somebody confirms it. */
  readonly fadesAt: Date | null;
  readonly expiresAt: Date | null;
  /** Archived and expired facts are kept and shown here, and recalled only on demand. */
  readonly state: "live" | "archived" | "expired";
  readonly archivedReason: ArchivedReason | null;
  readonly supersededBy: string | null;
  /** Newest first. */
  readonly statements: readonly Statement[];
  readonly contradicts: readonly { readonly factId: string; readonly value: unknown }[];
  readonly events: readonly FactEvent[];
}

/** @param key the state of the fact's key now */
export function recordOf({ scope, row }: PlacedRow, key: KeyState, now: Date): FactRecord {
  const own = claimOf(key, row.id);
  const isContested = own?.state === "contested";
  const rivals = isContested
    ? key.claims.filter((claim) => claim !== own && isLive(claim.state))
    : [];
  const alone = score(row.confidence, daysBetween(row.observedAt, now), row.halfLifeDays);
  return {
    factId: row.id,
    scope: scope.name,
    ...(scope.name === "store" && { storeId: scope.storeId }),
    ...(scope.name === "user" && { userId: scope.userId }),
    agentId: row.agentId,
    key: row.key,
    value: row.value,
    tags: own?.tags ?? row.tags,
    tier: own?.tier ?? row.tier,
    confidence: own?.confidence ?? row.confidence,
    halfLifeDays: own?.halfLifeDays ?? row.halfLifeDays,
    score: own ? scoreOf(own, now) : alone,
    pinned: own?.pinned ?? false,
    firstSeen: own?.firstSeen ?? row.observedAt,
    lastConfirmed: own?.lastConfirmed ?? row.observedAt,
    confirmations: own?.confirmations ?? 1,
    contested: isContested,
    fadesAt: own?.fadesAt ?? null,
    expiresAt: own?.expiresAt ?? null,
    state: own ? (isLive(own.state) ? "live" : "archived") : "expired",
    archivedReason: own?.archivedReason ?? null,
    supersededBy: own?.supersededBy ?? null,
    statements: (own?.rows ?? [row]).slice(-STATEMENTS).reverse().map(statementOf),
    contradicts: rivals.map(({ factId, value }) => ({ factId, value })),
    events: [],
  };
}

function statementOf(row: FactRow): Statement {
  const { id: factId, value, confidence, sourceMessageId, writtenBy, reasoning } = row;
  const { observedAt, createdAt } = row;
  return {
    factId,
    value,
    confidence,
    sourceMessageId,
    writtenBy,
    reasoning,
    observedAt,
    createdAt,
  };
}
