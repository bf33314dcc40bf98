import type { Decision } from "./decision.ts";
import { meaningOf } from "./meaning.ts";
import type { FactRow } from "./row.ts";
import { addDays } from "./score.ts";

/** Whether two rows of one key say the same although their texts differ. */
export type Alike = (a: FactRow, b: FactRow) => boolean;

/**
 * Statements of one meaning, none of which came after the ones before had expired. A chain expires as a whole, at a time
 * that no other value's rows can move: so the rows that an expiry deletes leave the rest of the key as it would be
 * without them, whenever consolidation comes to delete them.
 */
export interface Chain {
  readonly rows: readonly FactRow[];
  readonly expiresAt: Date | null;
  /** When people pinned and unpinned it, in time order. */
  readonly pins: readonly Decision[];
}

interface Growing {
  readonly rows: FactRow[];
  readonly pins: Decision[];
  /** Null = never expires. Of several TTLs the longest: no claim may go before the time that a statement asked for. */
  ttlDays: number | null;
  lastConfirmed: Date;
}

/** One step of a key's history: at equal times a row comes before a decision, which may speak of it. */
export type Step =
  | { readonly at: Date; readonly row: FactRow; readonly decision?: never }
  | { readonly at: Date; readonly decision: Decision; readonly row?: never };

/** @param steps in time order */
export function chainsOf(steps: readonly Step[], alike: Alike | undefined): Chain[] {
  const chains: Growing[] = [];
  const latest = new Map<string, Growing>();
  const byRow = new Map<string, Growing>();
  for (const { at, row, decision } of steps) {
    if (row) {
      const chain = chainFor(row, latest, chains, alike);
      if (chain.rows.length === 0) chains.push(chain);
      chain.rows.push(row);
      chain.lastConfirmed = at;
      chain.ttlDays = longer(chain.ttlDays, row.ttlDays);
      byRow.set(row.id, chain);
      latest.set(meaningOf(row.value), chain);
    } else {
      const chain = byRow.get(decision.factId);
      if (!chain || hasExpired(chain, at)) continue;
      if (decision.kind === "pin" || decision.kind === "unpin") chain.pins.push(decision);
      if (decision.kind === "edit") passPin(chain, byRow.get(decision.replacedBy ?? ""), decision);
      if (decision.kind === "settle" || decision.kind === "restore") chain.lastConfirmed = at;
    }
  }
  return chains.map((chain) => ({
    rows: chain.rows,
    expiresAt: expiryOf(chain),
    pins: chain.pins,
  }));
}

function chainFor(
  row: FactRow,
  latest: ReadonlyMap<string, Growing>,
  chains: readonly Growing[],
  alike: Alike | undefined,
): Growing {
  const equal = latest.get(meaningOf(row.value));
  if (equal && !hasExpired(equal, row.observedAt)) return equal;
  const similar =
    alike &&
    chains.find(
      (chain) =>
        !hasExpired(chain, row.observedAt) &&
        chain.rows[0] !== undefined &&
        alike(chain.rows[0], row),
    );
  return similar ?? { rows: [], pins: [], ttlDays: row.ttlDays, lastConfirmed: row.observedAt };
}

/** An edited claim's pin goes to the one that takes its place. */
function passPin(from: Growing, to: Growing | undefined, decision: Decision): void {
  if (from === to || from.pins.at(-1)?.kind !== "pin") return;
  from.pins.push({ ...decision, kind: "unpin" });
  to?.pins.push({ ...decision, kind: "pin" });
}

export function isPinned({ pins }: Pick<Chain, "pins">, at: Date): boolean {
  return pins.findLast((pin) => pin.at <= at)?.kind === "pin";
}

/** TTL runs from the last confirmation, and not while the claim is pinned. */
function expiryOf({ pins, ttlDays, lastConfirmed }: Growing): Date | null {
  if (ttlDays === null) return null;
  const due = addDays(lastConfirmed, ttlDays);
  if (pins.findLast(({ at }) => at < due)?.kind !== "pin") return due;
  return pins.find(({ kind, at }) => kind === "unpin" && at >= due)?.at ?? null;
}

function longer(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}

function hasExpired(chain: Growing, at: Date): boolean {
  const expiresAt = expiryOf(chain);
  return expiresAt !== null && expiresAt <= at;
}
