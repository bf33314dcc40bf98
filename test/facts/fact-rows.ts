import fc from "fast-check";
import type { Decision, DecisionKind } from "../../src/facts/decision.ts";
import { TIERS, type Tier } from "../../src/facts/fact.ts";
import { fold } from "../../src/facts/fold.ts";
import type { FactRow } from "../../src/facts/row.ts";

export const DAY = 86_400_000;
export const START = Date.parse("2026-01-01T00:00:00Z");
export const day = (days: number) => new Date(START + days * DAY);

let serial = 0;
const nextId = () => `00000000-0000-7000-8000-${String(++serial).padStart(12, "0")}`;

/** A statement of 0.8 by a message of its own on the first day, unless told otherwise. */
export function factRow(over: Partial<FactRow> = {}): FactRow {
  const id = nextId();
  return {
    id,
    agentId: "atlas",
    key: "home",
    value: "x",
    searchText: "x",
    confidence: 0.8,
    tags: [],
    tier: "preference",
    halfLifeDays: 365,
    ttlDays: null,
    reasoning: null,
    sourceMessageId: `m${serial}`,
    sourceReason: null,
    conversation: null,
    writtenBy: "key",
    observedAt: day(0),
    createdAt: day(0),
    withdrawnAt: null,
    ...over,
  };
}

/** Says one value after the other, each with its day. */
export function said(...statements: readonly (readonly [value: unknown, at: number])[]): FactRow[] {
  return statements.map(([value, at]) =>
    factRow({ value, observedAt: day(at), createdAt: day(at) }),
  );
}

export function decision(
  kind: DecisionKind,
  row: Pick<FactRow, "id">,
  at: number,
  replacedBy: Pick<FactRow, "id"> | null = null,
): Decision {
  return { id: nextId(), kind, factId: row.id, replacedBy: replacedBy?.id ?? null, at: day(at) };
}

const anyTier = fc.constantFrom(...(Object.keys(TIERS) as Tier[]));

/** Rows of one key over 400 days: few values, so that they meet; all tiers, so that they fade and expire. */
const anyRow = fc
  .record({
    value: fc.constantFrom<unknown>("x", "X.", "y", 1, { a: 1 }),
    confidence: fc.constantFrom(0.4, 0.8, 1),
    tier: anyTier,
    hours: fc.integer({ min: 0, max: 400 * 24 }),
    conversation: fc.constantFrom(null, "c1", "c2"),
    withdrawn: fc.option(fc.integer({ min: 0, max: 400 }), { freq: 6 }),
  })
  .map(({ hours, tier, withdrawn, ...given }) =>
    factRow({
      ...given,
      tier,
      ...TIERS[tier],
      observedAt: day(hours / 24),
      createdAt: day(hours / 24),
      withdrawnAt: withdrawn === null ? null : day(Math.max(withdrawn, hours / 24)),
    }),
  );

/** Rows of one key with decisions about them. */
export const anyHistory = fc.array(anyRow, { minLength: 1, maxLength: 12 }).chain((rows) =>
  fc.record({
    rows: fc.constant(rows),
    decisions: fc.array(
      fc
        .record({
          kind: fc.constantFrom<DecisionKind>(
            "settle",
            "keep_all",
            "pin",
            "unpin",
            "archive",
            "restore",
            "edit",
            "alike",
            "alike",
          ),
          about: fc.nat({ max: rows.length - 1 }),
          next: fc.nat({ max: rows.length - 1 }),
          at: fc.integer({ min: 0, max: 400 }),
        })
        .map(({ kind, about, next, at }) =>
          decision(
            kind,
            rows[about] as FactRow,
            at,
            ["edit", "alike"].includes(kind) ? (rows[next] ?? null) : null,
          ),
        ),
      { maxLength: 6 },
    ),
  }),
);

/** What a person would see of a key: its values with their state. */
export function seen(
  rows: readonly FactRow[],
  at: number,
  decisions: Parameters<typeof fold>[1] = [],
) {
  return fold(rows, decisions, day(at)).claims.map(
    ({ value, state, archivedReason }) => [value, archivedReason ?? state] as const,
  );
}
