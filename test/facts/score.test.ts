import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { daysBetween, fadesAt, score } from "../../src/facts/score.ts";

describe("score", () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const age = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  const halfLife = fc.double({ min: 0.01, max: 36_500, noNaN: true });

  test("lies between 0 and the confidence at any age, future ones included", () => {
    fc.assert(
      fc.property(part, age, halfLife, (confidence, days, half) => {
        const value = score(confidence, days, half);
        return value >= 0 && value <= confidence;
      }),
    );
  });

  test("never rises with age, and halves with each half-life", () => {
    fc.assert(
      fc.property(part, age, age, halfLife, (confidence, a, b, half) => {
        const [younger, older] = a < b ? [a, b] : [b, a];
        return score(confidence, older, half) <= score(confidence, younger, half);
      }),
    );
    expect(score(0.8, 365, 365)).toBe(0.4);
    expect(score(0.8, -3650, 30)).toBe(0.8);
  });

  test("falls below 0.2 at the very millisecond that fadesAt names, and not one sooner", () => {
    const confirmed = new Date("2026-01-01T00:00:00Z");
    fc.assert(
      fc.property(part, halfLife, (confidence, half) => {
        const at = fadesAt(confidence, confirmed, half);
        const scoreAt = (ms: number) =>
          score(confidence, daysBetween(confirmed, new Date(ms)), half);
        const isSooner = at > confirmed && scoreAt(at.getTime() - 1) < 0.2;
        return scoreAt(at.getTime()) < 0.2 && !isSooner;
      }),
      { numRuns: 2_000 },
    );
  });
});
