import { CALL_SOURCE, type Tier } from "./fact.ts";
import { meaningOf } from "./meaning.ts";
import type { FactRow } from "./row.ts";
import { addDays, daysBetween, score } from "./score.ts";

const HOUR_MS = 3_600_000;

/** What the rows of one key, in one scope and agent's pocket, say together about one value. */
export interface Claim {
  /** The oldest row, which speaks for all. */
  readonly factId: string;
  /** Every row that says this, in the order they were observed. */
  readonly rows: readonly FactRow[];
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly halfLifeDays: number;
  readonly expiresAt: Date | null;
  readonly pinned: boolean;
  readonly firstSeen: Date;
  readonly lastConfirmed: Date;
  /** Independent statements, the first included. */
  readonly confirmations: number;
  /** Another value lives under the same key. */
  readonly contested: boolean;
  readonly archived: boolean;
}

/**
 * Folds rows of any keys of one scope, in any order, into the claims that live at a point in time: rows in the order
 * (observed, id), equal meanings collapsed, expired ones dropped. A value stated again after it expired starts afresh.
 * Archived rows make claims of their own, which contest nothing.
 *
 * @returns by key and pocket, the current claim first
 */
export function claimsOf(rows: readonly FactRow[], at: Date): Claim[] {
  const slots = Map.groupBy(rows.toSorted(compareRows), (row) =>
    JSON.stringify([row.agentId, row.key, isArchived(row, at)]),
  );
  return [...slots.values()].flatMap((slot) => claimsOfSlot(slot, at));
}

/** The claim's score at a point in time. A contest does not lower it: that is for ranking. */
export function scoreOf(claim: Claim, at: Date): number {
  return score(claim.confidence, daysBetween(claim.lastConfirmed, at), claim.halfLifeDays);
}

function claimsOfSlot(rows: readonly FactRow[], at: Date): Claim[] {
  const groups = new Map<string, FactRow[]>();
  for (const row of rows) {
    const meaning = meaningOf(row.value);
    const group = groups.get(meaning);
    if (group && isLive(expiryOf(group), row.observedAt)) group.push(row);
    else groups.set(meaning, [row]);
  }
  const live = [...groups.values()].filter((group) => isLive(expiryOf(group), at));
  return live
    .map((group) => claimOf(group, isArchived(firstOf(group), at), live.length > 1))
    .sort((a, b) => compareRows(lastOf(b.rows), lastOf(a.rows)));
}

function claimOf(rows: readonly FactRow[], archived: boolean, several: boolean): Claim {
  const first = firstOf(rows);
  const strongest = rows.reduce((a, b) => (b.halfLifeDays > a.halfLifeDays ? b : a));
  return {
    factId: first.id,
    rows,
    agentId: first.agentId,
    key: first.key,
    value: first.value,
    confidence: Math.max(...rows.map((row) => row.confidence)),
    tags: [...new Set(rows.flatMap((row) => row.tags))],
    tier: strongest.tier,
    halfLifeDays: strongest.halfLifeDays,
    expiresAt: expiryOf(rows),
    pinned: rows.some((row) => row.pinned),
    firstSeen: first.observedAt,
    lastConfirmed: lastOf(rows).observedAt,
    confirmations: new Set(rows.map(occasionOf)).size,
    contested: several && !archived,
    archived,
  };
}

/**
 * TTL runs from the last confirmation. Of several TTLs the longest counts: no statement's claim may go before the
 * time that it asked for.
 */
function expiryOf(rows: readonly FactRow[]): Date | null {
  const ttls = rows.map((row) => (row.pinned ? null : row.ttlDays));
  if (ttls.includes(null)) return null;
  return addDays(lastOf(rows).observedAt, Math.max(...ttls.map(Number)));
}

/** Calls that name no source are one occasion an hour: an agent that repeats itself confirms nothing. */
function occasionOf(row: FactRow): string {
  if (!row.sourceMessageId.startsWith(CALL_SOURCE)) return row.sourceMessageId;
  return CALL_SOURCE + Math.floor(row.observedAt.getTime() / HOUR_MS);
}

function isArchived(row: FactRow, at: Date): boolean {
  return row.archivedAt !== null && row.archivedAt <= at;
}

function isLive(expiresAt: Date | null, at: Date): boolean {
  return expiresAt === null || expiresAt > at;
}

function compareRows(a: FactRow, b: FactRow): number {
  return a.observedAt.getTime() - b.observedAt.getTime() || (a.id < b.id ? -1 : 1);
}

function firstOf(rows: readonly FactRow[]): FactRow {
  const row = rows[0];
  if (!row) throw new Error("a claim has at least one row");
  return row;
}

function lastOf(rows: readonly FactRow[]): FactRow {
  const row = rows.at(-1);
  if (!row) throw new Error("a claim has at least one row");
  return row;
}
