import { describe, expect, test } from "vitest";
import { fold } from "../../src/facts/fold.ts";
import type { FactRow } from "../../src/facts/row.ts";
import { day, decision, factRow, said, seen } from "./fact-rows.ts";

describe("a person", () => {
  const contested = () => said(["a", 0], ["a", 1], ["a", 2], ["b", 3]);

  test("settles a contest at once, either way, and a later statement opens it again", () => {
    const rows = contested();
    const a = rows[0] as FactRow;
    const b = rows[3] as FactRow;
    expect(seen(rows, 5, [decision("settle", b, 4)])).toEqual([
      ["b", "live"],
      ["a", "superseded"],
    ]);
    expect(seen(rows, 5, [decision("settle", a, 4)])).toEqual([
      ["a", "live"],
      ["b", "superseded"],
    ]);
    expect(seen([...rows, ...said(["b", 6])], 7, [decision("settle", a, 4)])).toEqual([
      ["b", "contested"],
      ["a", "contested"],
      ["b", "superseded"],
    ]);
  });

  test("calls both true: neither is contested, and confirming one does not archive the other", () => {
    const rows = contested();
    const both = [decision("keep_all", rows[0] as FactRow, 4)];
    expect(seen(rows, 5, both)).toEqual([
      ["b", "live"],
      ["a", "live"],
    ]);
    expect(seen([...rows, ...said(["b", 6], ["b", 7], ["b", 8])], 9, both)).toEqual([
      ["b", "live"],
      ["a", "live"],
    ]);
    expect(seen([...rows, ...said(["c", 6])], 9, both).map(([, state]) => state)).toEqual([
      "contested",
      "contested",
      "contested",
    ]);
  });

  test("edits a value: the new one takes the old one's place and leaves others alone", () => {
    const rows = [...contested(), factRow({ value: "A!", observedAt: day(5) })];
    const edit = decision("edit", rows[3] as FactRow, 5, rows[4]);
    expect(seen(rows, 6, [edit])).toEqual([
      ["a", "live"],
      ["b", "edited"],
    ]);
  });

  test("edits a claim that is pinned or one of several true ones: the new one is so too", () => {
    const old = factRow({ value: "nuts", ttlDays: 10 });
    const next = factRow({ value: "nuts and soy", ttlDays: 10, observedAt: day(2) });
    const decisions = [decision("pin", old, 1), decision("edit", old, 2, next)];
    const later = fold([old, next], decisions, day(300));
    expect(later.claims).toMatchObject([{ value: "nuts and soy", pinned: true, state: "live" }]);
    expect(later.expired).toMatchObject([{ rows: [old], expiresAt: day(10) }]);

    const rows = [
      ...said(["tea", 0], ["coffee", 0]),
      factRow({ value: "espresso", observedAt: day(2) }),
    ];
    const [, coffee, espresso] = rows as [FactRow, FactRow, FactRow];
    const both = [decision("keep_all", coffee, 1), decision("edit", coffee, 2, espresso)];
    expect(seen(rows, 3, both)).toEqual([
      ["espresso", "live"],
      ["tea", "live"],
      ["coffee", "edited"],
    ]);
  });

  test("rejects a value for good: it does not come back when the accepted or edited one is erased", () => {
    const [wrong, right] = said(["wrong", 0], ["right", 1]) as [FactRow, FactRow];
    expect(seen([wrong], 5, [decision("settle", right, 2)])).toEqual([["wrong", "superseded"]]);
    expect(seen([wrong], 5, [decision("edit", wrong, 2, right)])).toEqual([["wrong", "edited"]]);
    expect(seen([wrong, ...said(["wrong", 6])], 7, [decision("settle", right, 2)])).toEqual([
      ["wrong", "live"],
      ["wrong", "superseded"],
    ]);
  });

  test("who presses a button three times says a thing once", () => {
    const edits = [0, 1, 2].map((n) => factRow({ sourceMessageId: `edit:${n}`, value: "Nice" }));
    expect(fold(edits, [], day(1)).claims[0]?.confirmations).toBe(1);
  });

  test("puts a claim away and takes it back with its confirmations", () => {
    const rows = said(["a", 0], ["a", 1]);
    const away = decision("archive", rows[1] as FactRow, 2);
    expect(seen(rows, 3, [away])).toEqual([["a", "archived"]]);
    const back = fold(rows, [away, decision("restore", rows[0] as FactRow, 4)], day(5)).claims[0];
    expect(back).toMatchObject({ state: "live", confirmations: 2, lastConfirmed: day(4) });
  });

  test("takes back a value that was said again meanwhile: it is one claim, not two", () => {
    const rows = said(["a", 0], ["a", 3]);
    const decisions = [
      decision("archive", rows[0] as FactRow, 1),
      decision("restore", rows[0] as FactRow, 4),
    ];
    const { claims } = fold(rows, decisions, day(5));
    expect(claims).toMatchObject([{ factId: rows[0]?.id, confirmations: 2, state: "live" }]);
  });
});
