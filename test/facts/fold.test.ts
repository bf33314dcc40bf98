import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { scoreOf } from "../../src/facts/claims.ts";
import { fold } from "../../src/facts/fold.ts";
import { isLive } from "../../src/facts/life.ts";
import { meaningOf } from "../../src/facts/meaning.ts";
import type { FactRow } from "../../src/facts/row.ts";
import { anyHistory, DAY, day, decision, factRow, START, said, seen } from "./fact-rows.ts";

describe("the state of a key", () => {
  test("is the same whatever order its rows and decisions come in", () => {
    fc.assert(
      fc.property(
        anyHistory.chain(({ rows, decisions }) =>
          fc.record({
            rows: fc.constant(rows),
            decisions: fc.constant(decisions),
            shuffledRows: fc.shuffledSubarray(rows, { minLength: rows.length }),
            shuffledDecisions: fc.shuffledSubarray(decisions, { minLength: decisions.length }),
          }),
        ),
        fc.integer({ min: 0, max: 800 }),
        ({ rows, decisions, shuffledRows, shuffledDecisions }, days) => {
          expect(fold(shuffledRows, shuffledDecisions, day(days)).claims).toEqual(
            fold(rows, decisions, day(days)).claims,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  test("does not change by deleting what expired, whenever that happens", () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.integer({ min: 0, max: 800 }),
        fc.integer({ min: 0, max: 400 }),
        ({ rows, decisions }, days, more) => {
          const early = fold(rows, decisions, day(days));
          const gone = new Set(early.expired.flatMap((chain) => chain.rows));
          const left = rows.filter((row) => !gone.has(row));
          const later = day(days + more);
          expect(fold(left, decisions, later).claims).toEqual(fold(rows, decisions, later).claims);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("gives each row one place, and mixes no meanings", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 800 }), ({ rows, decisions }, days) => {
        const at = day(days);
        const { claims, expired } = fold(rows, decisions, at);
        const placed = [...claims, ...expired].flatMap((place) => place.rows);
        const due = rows.filter((row) => row.observedAt <= at);
        expect(placed.map(({ id }) => id).toSorted()).toEqual(due.map(({ id }) => id).toSorted());
        for (const claim of claims) {
          const meanings = new Set(claim.rows.map(({ value }) => meaningOf(value))).size;
          const judged = decisions.filter(({ kind }) => kind === "alike").length;
          expect(meanings).toBeLessThanOrEqual(1 + judged);
          expect(claim.confirmations).toBeLessThanOrEqual(claim.rows.length);
          expect(scoreOf(claim, at)).toBeLessThanOrEqual(claim.confidence);
          expect(isLive(claim.state)).toBe(claim.archivedAt === null);
        }
        const live = claims.filter(({ state }) => isLive(state));
        expect(new Set(live.map(({ value }) => meaningOf(value))).size).toBe(live.length);
      }),
      { numRuns: 500 },
    );
  });

  test("merging twice changes nothing: a claim's rows fold into the same claim", () => {
    fc.assert(
      fc.property(anyHistory, ({ rows }) => {
        const once = fold(rows, [], day(100));
        for (const claim of once.claims.filter(({ state }) => isLive(state))) {
          const again = fold(claim.rows, [], day(100)).claims;
          expect(again).toHaveLength(1);
          expect(again[0]).toMatchObject({
            factId: claim.factId,
            confirmations: claim.confirmations,
            confidence: claim.confidence,
            lastConfirmed: claim.lastConfirmed,
          });
        }
      }),
    );
  });
});

describe("a value said again", () => {
  test("is one claim, with the oldest row and the highest confidence", () => {
    const rows = [
      factRow({ value: "Lyon", confidence: 0.6, tags: ["a"] }),
      factRow({ value: "  lyon. ", confidence: 0.9, tags: ["b"], observedAt: day(2) }),
    ];
    const [claim] = fold(rows, [], day(3)).claims;
    expect(claim).toMatchObject({
      factId: rows[0]?.id,
      confirmations: 2,
      confidence: 0.9,
      tags: ["a", "b"],
      lastConfirmed: day(2),
    });
  });

  test("counts once for a message and its edits, and for each source that a caller named apart", () => {
    const said = (...sources: string[]) =>
      fold(
        sources.map((sourceMessageId, n) => factRow({ sourceMessageId, observedAt: day(n) })),
        [],
        day(9),
      ).claims[0]?.confirmations;
    const message = "01a22de0-3f0f-738d-8924-0ef38e0a5de6";
    expect(said(message, `${message}#1`, `${message}#2`)).toBe(1);
    expect(said("ticket#1", "ticket#2", "ticket#3")).toBe(3);
  });

  test("counts once within an hour of one conversation, and once per hour of calls without a source", () => {
    const at = (hours: number) => new Date(START + hours * 3_600_000);
    const count = (...rows: Partial<FactRow>[]) =>
      fold(rows.map(factRow), [], day(9)).claims[0]?.confirmations;
    const inChat = (hours: number) => ({ conversation: "chat", observedAt: at(hours) });
    expect(count(inChat(1), inChat(1.5), inChat(1.9))).toBe(1);
    expect(count(inChat(1), inChat(1.5), inChat(2))).toBe(2);
    const call = (id: string, hours: number) => ({
      sourceMessageId: `call:${id}`,
      observedAt: at(hours),
    });
    expect(count(call("a", 1), call("b", 1.5), call("c", 3))).toBe(2);
    expect(count({ sourceMessageId: "m-a" }, { sourceMessageId: "m-b" })).toBe(2);
  });

  test("starts at one again after it faded, was replaced, or was put away", () => {
    const faded = [
      factRow({ confidence: 0.4, halfLifeDays: 14 }),
      factRow({ confidence: 0.4, halfLifeDays: 14, observedAt: day(14.1) }),
    ];
    expect(fold(faded, [], day(15)).claims.map(({ confirmations }) => confirmations)).toEqual([
      1, 1,
    ]);
    const replaced = said(["a", 0], ["a", 1], ["b", 2], ["b", 3], ["b", 4], ["a", 5]);
    expect(
      fold(replaced, [], day(6)).claims.map(({ value, confirmations }) => [value, confirmations]),
    ).toEqual([
      ["a", 1],
      ["b", 3],
      ["a", 2],
    ]);
  });
});

describe("a different value under the same key", () => {
  test("contests the first, and both live", () => {
    expect(seen(said(["loves it", 0], ["hates it", 1]), 2)).toEqual([
      ["hates it", "contested"],
      ["loves it", "contested"],
    ]);
  });

  test("takes its place with the third statement, not before", () => {
    const rows = said(["a", 0], ["a", 7], ["b", 30], ["b", 37], ["b", 44]);
    expect(seen(rows, 40)).toEqual([
      ["b", "contested"],
      ["a", "contested"],
    ]);
    expect(seen(rows, 44)).toEqual([
      ["b", "live"],
      ["a", "superseded"],
    ]);
    expect(fold(rows, [], day(44)).claims[1]).toMatchObject({
      supersededBy: rows[2]?.id,
      archivedAt: day(44),
    });
  });

  test("loses when the first is confirmed again: noise does not win", () => {
    const rows = said(["a", 0], ["a", 7], ["a", 14], ["b", 30], ["a", 35]);
    expect(seen(rows, 36)).toEqual([
      ["a", "live"],
      ["b", "superseded"],
    ]);
  });

  test("of an older observation that arrives late does not become the current one", () => {
    const london = factRow({ value: "London", observedAt: day(800) });
    const paris = factRow({ value: "Paris", observedAt: day(100) });
    expect(seen([london, paris], 801)).toEqual([
      ["London", "contested"],
      ["Paris", "contested"],
    ]);
  });

  test("twenty times stays twenty", () => {
    const rows = Array.from({ length: 20 }, (_, n) =>
      factRow({ value: `customer ${n} ordered lamp ${1000 + n}`, observedAt: day(n) }),
    );
    expect(fold(rows, [], day(21)).claims.filter(({ state }) => isLive(state))).toHaveLength(20);
  });

  test("brings the first back when it expires", () => {
    const rows = [
      factRow({ value: "Paris" }),
      ...[1, 2, 3].map((at) =>
        factRow({
          value: "London",
          tier: "ephemeral",
          halfLifeDays: 60,
          ttlDays: 14,
          observedAt: day(at),
        }),
      ),
    ];
    expect(seen(rows, 5)[1]).toEqual(["Paris", "superseded"]);
    expect(seen(rows, 17)).toEqual([["Paris", "live"]]);
  });
});

describe("time", () => {
  test("archives a claim at the tick its score falls below 0.2, unless it is pinned", () => {
    const row = factRow({ confidence: 0.8, halfLifeDays: 14 });
    const [claim] = fold([row], [], day(1)).claims;
    const fades = claim?.fadesAt?.getTime() ?? 0;
    expect(fades / DAY - START / DAY).toBeCloseTo(28, 6);
    expect(fold([row], [], new Date(fades - 1)).claims[0]?.state).toBe("live");
    expect(fold([row], [], new Date(fades)).claims[0]).toMatchObject({
      state: "archived",
      archivedReason: "faded",
      archivedAt: new Date(fades),
    });
    const pinned = fold([row], [decision("pin", row, 2)], day(300)).claims[0];
    expect(pinned).toMatchObject({ state: "live", pinned: true, fadesAt: null });
    const unpinned = [decision("pin", row, 2), decision("unpin", row, 200)];
    expect(fold([row], unpinned, day(300)).claims[0]).toMatchObject({ archivedAt: day(200) });
  });

  test("runs a TTL from the last confirmation, takes merged rows along, and stands still while pinned", () => {
    const rows = [0, 5].map((at) => factRow({ ttlDays: 14, observedAt: day(at) }));
    expect(fold(rows, [], day(18.9)).claims).toHaveLength(1);
    expect(fold(rows, [], day(19))).toMatchObject({
      claims: [],
      expired: [{ rows, expiresAt: day(19) }],
    });
    const pin = [decision("pin", rows[0] as FactRow, 6)];
    expect(fold(rows, pin, day(400)).claims).toHaveLength(1);
    const unpin = [...pin, decision("unpin", rows[1] as FactRow, 300)];
    expect(fold(rows, unpin, day(400)).expired).toMatchObject([{ expiresAt: day(300) }]);
  });

  test("leaves core and preference facts in place over four idle months", () => {
    const rows = [
      factRow({ tier: "core", halfLifeDays: 1095, confidence: 0.4 }),
      factRow({ tier: "preference", value: "y", confidence: 0.4 }),
    ];
    expect(fold(rows, [], day(123)).claims.every(({ state }) => isLive(state))).toBe(true);
  });
});

test("a statement whose source was edited counts until then, and no longer", () => {
  const rows = [
    factRow({ value: "a" }),
    factRow({ value: "b", observedAt: day(1), withdrawnAt: day(5) }),
  ];
  expect(seen(rows, 4).map(([value]) => value)).toEqual(["b", "a"]);
  expect(seen(rows, 5)).toEqual([
    ["a", "live"],
    ["b", "withdrawn"],
  ]);
});

test("the time zone of the server changes no score and no state", () => {
  const zone = process.env.TZ;
  onTestFinished(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  const states = ["UTC", "America/New_York", "Asia/Kolkata"].map((TZ) => {
    process.env.TZ = TZ;
    const at = new Date("2026-03-09T12:00:00Z");
    // Across the night of 8 March, when New York loses an hour.
    const rows = ["2026-03-07T23:30:00Z", "2026-03-08T07:30:00Z"].map((observedAt, n) =>
      factRow({
        id: `row-${n}`,
        sourceMessageId: `m${n}`,
        halfLifeDays: 2,
        observedAt: new Date(observedAt),
      }),
    );
    return fold(rows, [], at).claims.map((claim) => ({ ...claim, score: scoreOf(claim, at) }));
  });
  expect(states[1]).toEqual(states[0]);
  expect(states[2]).toEqual(states[0]);
});
