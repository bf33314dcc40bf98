import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimsOf, scoreOf } from "../../src/facts/claims.ts";
import { meaningOf } from "../../src/facts/meaning.ts";
import type { FactRow } from "../../src/facts/row.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");

describe("claims", () => {
  let serial = 0;
  const row = (over: Partial<FactRow> = {}): FactRow => ({
    id: `00000000-0000-7000-8000-${String(++serial).padStart(12, "0")}`,
    agentId: "atlas",
    key: "k",
    value: "x",
    searchText: "x",
    confidence: 0.8,
    tags: [],
    tier: "preference",
    halfLifeDays: 365,
    ttlDays: null,
    reasoning: null,
    sourceMessageId: `m${serial}`,
    writtenBy: "key",
    pinned: false,
    observedAt: new Date(START),
    createdAt: new Date(START),
    archivedAt: null,
    ...over,
  });
  const anyRow = fc
    .record({
      value: fc.constantFrom("x", "X.", "y", 1),
      key: fc.constantFrom("k", "l"),
      agentId: fc.constantFrom("atlas", "maya"),
      confidence: fc.constantFrom(0.4, 0.9),
      ttlDays: fc.constantFrom(null, 2, 5),
      observedAt: fc.integer({ min: 0, max: 20 }).map((days) => new Date(START + days * DAY)),
      archivedAt: fc.constantFrom(null, null, new Date(START + 3 * DAY)),
    })
    .map(row);

  test("are the same whatever order the rows come in", () => {
    fc.assert(
      fc.property(
        fc
          .array(anyRow, { maxLength: 12 })
          .chain((rows) =>
            fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
          ),
        fc.integer({ min: 0, max: 30 }),
        ([rows, shuffled], days) => {
          const at = new Date(START + days * DAY);
          const byId = (claims: ReturnType<typeof claimsOf>) =>
            claims.toSorted((a, b) => (a.factId < b.factId ? -1 : 1));
          expect(byId(claimsOf(shuffled, at))).toEqual(byId(claimsOf(rows, at)));
        },
      ),
    );
  });

  test("never mix keys, pockets or meanings, and never score above a row's confidence", () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
        const at = new Date(START + 20 * DAY);
        for (const claim of claimsOf(rows, at)) {
          for (const own of claim.rows) {
            expect([own.key, own.agentId, meaningOf(own.value)]).toEqual([
              claim.key,
              claim.agentId,
              meaningOf(claim.value),
            ]);
          }
          expect(scoreOf(claim, at)).toBeLessThanOrEqual(
            Math.max(...claim.rows.map(({ confidence }) => confidence)),
          );
        }
      }),
    );
  });

  test("are contested while two values live, and no longer once one of them expired", () => {
    const rows = [row({ value: "a" }), row({ value: "b", ttlDays: 1 })];
    const at = (days: number) =>
      claimsOf(rows, new Date(START + days * DAY)).map(({ value, contested }) => [
        value,
        contested,
      ]);
    expect(at(0.5)).toEqual([
      ["b", true],
      ["a", true],
    ]);
    expect(at(1)).toEqual([["a", false]]);
  });

  test("that are archived contest nothing, neither live ones nor each other", () => {
    const archivedAt = new Date(START);
    const rows = [
      row({ value: "a" }),
      row({ value: "b", archivedAt }),
      row({ value: "c", archivedAt }),
    ];
    const claims = claimsOf(rows, new Date(START));
    expect(claims.map(({ contested }) => contested)).toEqual([false, false, false]);
    expect(claims.filter(({ archived }) => archived).map(({ value }) => value)).toEqual(["c", "b"]);
  });

  test("live on from their last confirmation, and start afresh once expired", () => {
    const said = (day: number) => row({ ttlDays: 2, observedAt: new Date(START + day * DAY) });
    const rows = [said(0), said(1), said(5)];
    const at = (days: number) =>
      claimsOf(
        rows.filter(({ observedAt }) => observedAt.getTime() <= START + days * DAY),
        new Date(START + days * DAY),
      );
    expect(at(2.5)[0]?.confirmations).toBe(2);
    expect(at(3)).toEqual([]);
    expect(at(5)[0]).toMatchObject({ confirmations: 1, firstSeen: new Date(START + 5 * DAY) });
  });

  test("of twenty values under one key stay twenty", () => {
    const rows = Array.from({ length: 20 }, (_, n) =>
      row({ value: `customer ${n} ordered lamp ${1000 + n}` }),
    );
    expect(claimsOf(rows, new Date(START))).toHaveLength(20);
  });
});
