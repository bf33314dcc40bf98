import fc from "fast-check";
import { expect, test } from "vitest";
import { scoreCurve } from "../../src/facts/curve.ts";
import { claimOf, fold } from "../../src/facts/fold.ts";
import type { FactRow, StoredFact } from "../../src/facts/row.ts";
import { anyHistory, day, decision, factRow, said } from "./fact-rows.ts";

const KEY = { scope: { name: "org", orgId: "o" }, agentId: "atlas", key: "home" } as const;
const curveOf = (
  rows: readonly FactRow[],
  now: number,
  decisions: Parameters<typeof fold>[1] = [],
  id = rows[0]?.id ?? "",
) => scoreCurve({ key: KEY, rows: rows as readonly StoredFact[], decisions }, id, day(now));

/** The scores at one day: two where it changed at once. */
const at = (curve: ReturnType<typeof curveOf>, days: number) =>
  curve?.points.filter((point) => +point.at === +day(days)).map(({ score }) => score.toFixed(3));

test("a score halves with its half-life and jumps back when the value is said again", () => {
  const rows = said(["x", 0], ["x", 365]);
  const curve = curveOf(rows, 500);
  expect(at(curve, 0)).toEqual(["0.800"]);
  expect(at(curve, 365)).toEqual(["0.400", "0.800"]);
  expect(curve?.said).toEqual([day(0), day(365)]);
  expect(curve?.until).toEqual(claimOf(fold(rows, [], day(500)), rows[0]?.id ?? "")?.fadesAt);
  expect(curve?.points.at(-1)?.score).toBeCloseTo(0.2, 6);
});

test("it ends where the fact expires, and goes on as long as it is old where it never leaves", () => {
  const short = factRow({ tier: "ephemeral", halfLifeDays: 30, ttlDays: 14 });
  expect(curveOf([short], 1)?.until).toEqual(day(14));
  const pinned = [factRow()];
  expect(curveOf(pinned, 100, [decision("pin", pinned[0] as FactRow, 1)])?.until).toEqual(day(200));
});

test("of what expired and waits to be deleted there is none", () => {
  expect(curveOf([factRow({ ttlDays: 14 })], 20)).toBeUndefined();
});

test("whatever was said and decided, its points are in order, and no score is above 1 or below 0", () => {
  fc.assert(
    fc.property(anyHistory, fc.nat({ max: 500 }), ({ rows, decisions }, now) => {
      const { points = [] } = curveOf(rows, now, decisions) ?? {};
      for (const [n, { at: time, score }] of points.entries()) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        if (n > 0) expect(+time).toBeGreaterThanOrEqual(+(points[n - 1]?.at ?? 0));
      }
    }),
    { numRuns: 100 },
  );
});
