import { claimsOf, scoreOf } from "./claims.ts";
import type { FactEvent } from "./event.ts";
import type { FactScopeName, Tier } from "./fact.ts";
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
  readonly expiresAt: Date | null;
  /** Archived and expired facts are kept and shown here, and recalled only on demand. */
  readonly state: "live" | "archived" | "expired";
  /** Newest first. */
  readonly statements: readonly Statement[];
  readonly contradicts: readonly { readonly factId: string; readonly value: unknown }[];
  readonly events: readonly FactEvent[];
}

/** @param live the live rows of the fact's scope, agent and key */
export function recordOf(
  { scope, row }: PlacedRow,
  live: readonly FactRow[],
  now: Date,
): FactRecord {
  const claims = claimsOf([...live.filter(({ id }) => id !== row.id), row], now);
  const own = claims.find(({ rows }) => rows.some(({ id }) => id === row.id));
  const rivals = claims.filter((claim) => claim !== own && !claim.archived);
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
    pinned: own?.pinned ?? row.pinned,
    firstSeen: own?.firstSeen ?? row.observedAt,
    lastConfirmed: own?.lastConfirmed ?? row.observedAt,
    confirmations: own?.confirmations ?? 1,
    contested: own?.contested ?? false,
    expiresAt: own?.expiresAt ?? null,
    state: row.archivedAt !== null ? "archived" : own ? "live" : "expired",
    statements: (own?.rows ?? [row]).slice(-STATEMENTS).reverse().map(statementOf),
    contradicts:
      row.archivedAt === null && own ? rivals.map(({ factId, value }) => ({ factId, value })) : [],
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
