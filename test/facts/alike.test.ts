import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inherited } from "../../src/facts/alike.ts";
import { fold } from "../../src/facts/fold.ts";
import { isLive } from "../../src/facts/life.ts";
import type { FactRow } from "../../src/facts/row.ts";
import { anyHistory, day, decision, factRow, said, seen } from "./fact-rows.ts";

type Rows = [FactRow, FactRow, ...FactRow[]];

describe("two values that a machine finds alike", () => {
  test("are one claim from the judgement on, and were two before", () => {
    const rows = said(["has two kids", 0], ["has 2 children", 1]) as Rows;
    const judged = [decision("alike", rows[1], 3, rows[0])];
    expect(seen(rows, 2, judged)).toEqual([
      ["has 2 children", "contested"],
      ["has two kids", "contested"],
    ]);
    const { claims } = fold(rows, judged, day(4));
    expect(claims).toMatchObject([
      { factId: rows[0].id, value: "has two kids", confirmations: 2, state: "live" },
    ]);
  });

  test("confirm each other, whichever of them is said next", () => {
    const rows = said(["a", 0], ["b", 1], ["c", 2], ["b", 5], ["a", 6]) as Rows;
    const judged = [decision("alike", rows[0], 3, rows[1])];
    expect(
      fold(rows, judged, day(7)).claims.map(({ rows: r, state }) => [r.length, state]),
    ).toEqual([
      [4, "live"],
      [1, "superseded"],
    ]);
  });

  test("take a third along that is alike to one of them", () => {
    const rows = said(["a", 0], ["b", 1], ["c", 2]) as [FactRow, FactRow, FactRow];
    const judged = [decision("alike", rows[1], 3, rows[0]), decision("alike", rows[2], 4, rows[1])];
    expect(seen(rows, 5, judged)).toEqual([["a", "live"]]);
  });

  test("expire together, at the later of both times", () => {
    const short = factRow({ value: "a", ttlDays: 14 });
    const long = factRow({ value: "b", ttlDays: 30, observedAt: day(1) });
    for (const judged of [decision("alike", long, 2, short), decision("alike", short, 2, long)]) {
      expect(fold([short, long], [judged], day(30.9)).claims).toHaveLength(1);
      expect(fold([short, long], [judged], day(31)).expired).toMatchObject([
        { rows: [short, long] },
      ]);
    }
  });

  test("are not brought back by a judgement on what had expired", () => {
    const gone = factRow({ value: "a", ttlDays: 14 });
    const left = factRow({ value: "b", observedAt: day(1) });
    expect(fold([gone, left], [decision("alike", left, 20, gone)], day(21))).toMatchObject({
      claims: [{ factId: left.id, confirmations: 1 }],
      expired: [{ rows: [gone] }],
    });
  });

  test("stay pinned while one of them is", () => {
    const [one, other] = [
      factRow({ value: "a", ttlDays: 14 }),
      factRow({ value: "b", ttlDays: 14, observedAt: day(1) }),
    ] as const;
    for (const judged of [decision("alike", one, 4, other), decision("alike", other, 4, one)]) {
      const decisions = [
        decision("pin", one, 2),
        decision("pin", other, 3),
        decision("unpin", other, 3.5),
        judged,
      ];
      expect(fold([one, other], decisions, day(400)).claims).toMatchObject([
        { pinned: true, state: "live" },
      ]);
      const unpinned = [...decisions, decision("unpin", one, 50)];
      expect(fold([one, other], unpinned, day(49)).claims).toHaveLength(1);
      expect(fold([one, other], unpinned, day(50)).expired).toHaveLength(1);
    }
  });
});

describe("what a person decided about two values stands", () => {
  const decided = (kind: "keep_all" | "settle" | "archive", judgedOn: number) => {
    const rows = said(["a", 0], ["b", 1]) as Rows;
    const decisions = [decision(kind, rows[1], 5), decision("alike", rows[1], judgedOn, rows[0])];
    return seen(rows, 9, decisions);
  };

  test("when a machine finds them alike later", () => {
    expect(decided("keep_all", 6)).toEqual([
      ["b", "live"],
      ["a", "live"],
    ]);
    expect(decided("settle", 6)).toEqual([
      ["b", "live"],
      ["a", "superseded"],
    ]);
    expect(decided("archive", 6)).toEqual([
      ["a", "live"],
      ["b", "archived"],
    ]);
  });

  test("and takes the two as one when they were one already", () => {
    expect(decided("keep_all", 4)).toEqual([["a", "live"]]);
    expect(decided("settle", 4)).toEqual([["a", "live"]]);
    expect(decided("archive", 4)).toEqual([["a", "archived"]]);
  });

  test("an edit keeps its two values apart", () => {
    const rows = said(["a", 0], ["b", 5]) as Rows;
    const decisions = [
      decision("edit", rows[0], 5, rows[1]),
      decision("alike", rows[1], 6, rows[0]),
    ];
    expect(seen(rows, 9, decisions)).toEqual([
      ["b", "live"],
      ["a", "edited"],
    ]);
  });

  test("a value that was said after it may be found alike", () => {
    const rows = said(["a", 0], ["b", 1], ["a too", 7]) as [FactRow, FactRow, FactRow];
    const decisions = [decision("settle", rows[0], 5), decision("alike", rows[2], 8, rows[0])];
    expect(seen(rows, 9, decisions)).toEqual([
      ["a", "live"],
      ["b", "superseded"],
    ]);
  });
});

test("which of the two rows a judgement names first makes no difference", () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: 0, max: 800 }), ({ rows, decisions }, days) => {
      const turned = decisions.map((one) =>
        one.kind === "alike" && one.replacedBy
          ? { ...one, factId: one.replacedBy, replacedBy: one.factId }
          : one,
      );
      const claims = (given: typeof decisions) =>
        fold(rows, given, day(days))
          .claims.map(({ rows: r, confirmations, state }) => [
            r.map(({ id }) => id),
            confirmations,
            state,
          ])
          .toSorted();
      expect(claims(turned)).toEqual(claims(decisions));
    }),
    { numRuns: 500 },
  );
});

test("one judgement on two live values of a key makes one claim of them, and no other claim fewer", () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: 0, max: 500 }), ({ rows, decisions }, days) => {
      const kept = decisions.filter(({ kind }) => kind === "pin" || kind === "unpin");
      const live = fold(rows, kept, day(days)).claims.filter(({ state }) => isLive(state));
      const [a, b] = live;
      fc.pre(a !== undefined && b !== undefined);
      const judged = [...kept, decision("alike", { id: b.factId }, days, { id: a.factId })];
      const after = fold(rows, judged, day(days));
      const of = (id: string) =>
        after.claims.find((claim) => claim.rows.some((row) => row.id === id));
      expect(of(a.factId)).toBe(of(b.factId));
      expect(after.expired.flatMap((chain) => chain.rows)).toEqual(
        expect.arrayContaining(fold(rows, kept, day(days)).expired.flatMap((chain) => chain.rows)),
      );
    }),
    { numRuns: 500 },
  );
});

test("a judgement on a row that goes passes to another row of the same meaning, or ends", () => {
  const [a, b, again] = said(["a", 0], ["b", 1], ["A.", 9]) as [FactRow, FactRow, FactRow];
  const judged = [decision("alike", b, 2, a)];
  expect(inherited(judged, [a], [b, again])).toEqual([
    { factId: b.id, replacedBy: again.id, at: day(9) },
  ]);
  expect(inherited(judged, [a], [b])).toEqual([]);
  expect(inherited(judged, [again], [a, b])).toEqual([]);
});
