import type { Decision } from "./decision.ts";
import { meaningOf } from "./meaning.ts";
import { compareRows, type FactRow } from "./row.ts";
import { addDays } from "./score.ts";

/**
 * Statements of one meaning, or of meanings that were found alike, none of which came after the ones before had expired.
 * A chain expires as a whole, at a time that no other value's rows can move: so the rows that an expiry deletes leave the
 * rest of the key as it would be without them, whenever consolidation comes to delete them.
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

/** The chains of a key while its history is walked through. */
class Chains {
  readonly #all = new Set<Growing>();
  readonly #latest = new Map<string, Growing>();
  readonly #byRow = new Map<string, Growing>();
  /** When a person last said which of the values hold. */
  #ruledAt: Date | undefined;

  state(row: FactRow): void {
    const { observedAt, ttlDays } = row;
    const meaning = meaningOf(row.value);
    const known = this.#latest.get(meaning);
    const chain =
      known && !hasExpired(known, observedAt)
        ? known
        : { rows: [], pins: [], ttlDays, lastConfirmed: observedAt };
    this.#all.add(chain);
    chain.rows.push(row);
    chain.lastConfirmed = observedAt;
    chain.ttlDays = longer(chain.ttlDays, ttlDays);
    this.#byRow.set(row.id, chain);
    this.#latest.set(meaning, chain);
  }

  decide(decision: Decision): void {
    const { kind, at } = decision;
    const other = this.#byRow.get(decision.replacedBy ?? "");
    const chain = this.#byRow.get(decision.factId);
    if (kind !== "alike" && kind !== "pin" && kind !== "unpin") this.#ruledAt = at;
    if (!chain || hasExpired(chain, at)) return;
    if (kind === "alike" && other && !hasExpired(other, at)) this.#unite(chain, other);
    if (kind === "pin" || kind === "unpin") chain.pins.push(decision);
    if (kind === "edit") passPin(chain, other, decision);
    if (kind === "settle" || kind === "restore") chain.lastConfirmed = at;
  }

  all(): Chain[] {
    return [...this.#all].map((chain) => ({
      rows: chain.rows,
      expiresAt: expiryOf(chain),
      pins: chain.pins,
    }));
  }

  /** A machine has no say in values that a person has seen side by side and decided about. */
  #unite(a: Growing, b: Growing): void {
    const ruledAt = this.#ruledAt;
    if (a === b || (ruledAt && [a, b].every((chain) => wasSaidBy(chain, ruledAt)))) return;
    a.rows.push(...b.rows);
    a.rows.sort(compareRows);
    a.pins.splice(0, a.pins.length, ...unitedPins(a.pins, b.pins));
    a.ttlDays = longer(a.ttlDays, b.ttlDays);
    if (b.lastConfirmed > a.lastConfirmed) a.lastConfirmed = b.lastConfirmed;
    this.#all.delete(b);
    for (const map of [this.#byRow, this.#latest]) {
      for (const [name, chain] of map) if (chain === b) map.set(name, a);
    }
  }
}

/** @param steps in time order */
export function chainsOf(steps: readonly Step[]): Chain[] {
  const chains = new Chains();
  for (const { row, decision } of steps) {
    if (row) chains.state(row);
    else chains.decide(decision);
  }
  return chains.all();
}

function wasSaidBy({ rows }: Growing, at: Date): boolean {
  return rows.some(({ observedAt }) => observedAt <= at);
}

/** Pinned while one of them was. */
function unitedPins(a: readonly Decision[], b: readonly Decision[]): Decision[] {
  const pinned = new Set<readonly Decision[]>();
  const united: Decision[] = [];
  const steps = [a, b].flatMap((pins) => pins.map((pin) => ({ pin, pins })));
  for (const { pin, pins } of steps.sort((x, y) => +x.pin.at - +y.pin.at)) {
    const was = pinned.size > 0;
    if (pin.kind === "pin") pinned.add(pins);
    else pinned.delete(pins);
    if (pinned.size > 0 !== was) united.push(pin);
  }
  return united;
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
