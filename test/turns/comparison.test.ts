import { expect, test } from "vitest";
import { armOf, type MemorySettings } from "../../src/orgs/memory.ts";
import { compareArms, differenceOf, neededFor } from "../../src/turns/comparison.ts";

const people = Array.from(
  { length: 2_000 },
  (_, n) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`,
);
const offOf = (offShare: number, enabled = true) => {
  const settings: MemorySettings = { enabled, offShare, extractionDailyLimit: null };
  return people.filter((id) => armOf(settings, id) === "off");
};

test("the share of people without memory is the share that was asked for", () => {
  expect(offOf(0)).toEqual([]);
  expect(offOf(1)).toEqual(people);
  expect(offOf(0.3).length / people.length).toBeCloseTo(0.3, 1);
  expect(offOf(0, false)).toEqual(people);
});

test("a person stays in their arm, and a larger share only adds to it", () => {
  expect(offOf(0.2)).toEqual(offOf(0.2));
  const larger = new Set(offOf(0.4));
  expect(offOf(0.2).every((id) => larger.has(id))).toBe(true);
});

test("arms are compared by rates, and nothing rated has no rate", () => {
  expect(compareArms({ on: { turns: 10, up: 3, down: 1, regenerated: 2 } })).toEqual({
    on: { turns: 10, up: 3, down: 1, regenerated: 2, upRate: 0.75, regeneratedRate: 0.2 },
    off: { turns: 0, up: 0, down: 0, regenerated: 0, upRate: null, regeneratedRate: null },
  });
});

test("a difference is told with its range, and not at all where an arm has next to nothing", () => {
  const found = differenceOf({ hits: 80, of: 100 }, { hits: 60, of: 100 });
  expect(found?.difference).toBeCloseTo(0.2);
  expect(found?.low).toBeCloseTo(0.076, 3);
  expect(found?.high).toBeCloseTo(0.324, 3);
  expect(differenceOf({ hits: 29, of: 29 }, { hits: 0, of: 100 })).toBeUndefined();
});

test("a small difference needs many more thumbs than a large one, whatever the rates are so far", () => {
  expect(neededFor(0.5, 0.1)).toBe(392);
  expect(neededFor(0.5, 0.05)).toBe(1568);
  expect(neededFor(0, 0.1)).toBe(neededFor(0.1, 0.1));
  expect(neededFor(1, 0.1)).toBe(142);
});
