import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimsOf, scoreOf } from "../../src/facts/claims.ts";
import { FactDraft, hasPrefix } from "../../src/facts/fact.ts";
import { canonicalJson, meaningOf, sameMeaning } from "../../src/facts/meaning.ts";
import type { FactRow } from "../../src/facts/row.ts";
import { score } from "../../src/facts/score.ts";
import { foldText, searchTextOf, wordsOf } from "../../src/facts/search-text.ts";
import { completeDraft } from "../../src/facts/watch.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");

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
});

describe("same meaning", () => {
  test.each([
    ["Rex is a dog", " rex  is a DOG. "],
    ["café", "cafe\u0301"],
    ["done!", "Done…"],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
  ])("%j and %j say the same", (a, b) => {
    expect(sameMeaning(a, b)).toBe(true);
  });

  test.each([
    ["vegetarian", "not vegetarian"],
    ["discount 100%", "discount 100"],
    ["C#", "C"],
    ["5", 5],
    [null, "null"],
    ["!", "?"],
    [
      [1, 2],
      [2, 1],
    ],
    ["Project deadline is October 15th", "Project deadline is October 16th"],
  ])("%j and %j do not", (a, b) => {
    expect(sameMeaning(a, b)).toBe(false);
  });

  test("canonical JSON is equal exactly for equal values, and keeps a __proto__ key", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(meaningOf(value)).toBe(meaningOf(JSON.parse(canonicalJson(value))));
      }),
    );
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":2}'))).toBe('{"__proto__":2,"b":1}');
  });
});

describe("a draft", () => {
  const draft = (over: object) => ({ key: "a.b", value: 1, confidence: 0.8, ...over });

  test.each([
    { key: "A" },
    { key: "a..b" },
    { key: ".a" },
    { key: "a b" },
    { key: "a".repeat(81) },
    { value: "x".repeat(4095) },
    { value: undefined },
    { confidence: 1.1 },
    { tags: Array.from({ length: 9 }, (_, i) => `t${i}`) },
    { tags: ["x".repeat(41)] },
    { reasoning: "x".repeat(241) },
    { halfLifeDays: 0 },
    { ttlDays: Number.POSITIVE_INFINITY },
    { tier: "forever" },
    { orgId: "x" },
  ])("with %j is refused", (over) => {
    expect(FactDraft.safeParse(draft(over)).success).toBe(false);
  });

  test.each([
    { value: "x".repeat(4094) },
    { value: null },
    { key: "a".repeat(80) },
    { confidence: 0 },
  ])("with %j is accepted", (over) => {
    expect(FactDraft.safeParse(draft(over)).success).toBe(true);
  });

  test("gets half-life and TTL of its tier, unless it brings its own", () => {
    const of = (over: object) => {
      const { tier, halfLifeDays, ttlDays } = completeDraft(FactDraft.parse(draft(over)));
      return [tier, halfLifeDays, ttlDays];
    };
    expect(of({})).toEqual(["preference", 365, null]);
    expect(of({ tier: "core" })).toEqual(["core", 1095, null]);
    expect(of({ tier: "seasonal" })).toEqual(["seasonal", 90, 365]);
    expect(of({ tier: "episodic" })).toEqual(["episodic", 14, 90]);
    expect(of({ tier: "ephemeral" })).toEqual(["ephemeral", 2, 14]);
    expect(of({ key: "watch.acme.price" })).toEqual(["watch", 60, 180]);
    expect(of({ tier: "core", halfLifeDays: 5, ttlDays: 6 })).toEqual(["core", 5, 6]);
  });

  test("about another site has watch key, tag veille and tier watch together, or is refused", () => {
    const part = fc.stringMatching(/^[a-z0-9_]{1,30}$/);
    const key = fc.oneof(
      part,
      fc.array(part, { minLength: 2, maxLength: 4 }).map((parts) => parts.join(".")),
    );
    const tags = fc.uniqueArray(fc.constantFrom("veille", "a", "b", "c", "d", "e", "f", "g"), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.boolean(), key, tags, (watched, rest, given) => {
        const name = watched ? `watch.${rest}` : rest;
        if (name.length > 80) return;
        const isWatch = watched || given.includes("veille") || name.startsWith("watch.");
        let complete: ReturnType<typeof completeDraft>;
        try {
          complete = completeDraft(FactDraft.parse(draft({ key: name, tags: given })));
        } catch (error) {
          expect(isWatch).toBe(true);
          expect(error).toMatchObject({ code: "INVALID_INPUT" });
          return;
        }
        expect(/^watch\.[^.]+\.[^.]+/.test(complete.key)).toBe(isWatch);
        expect(complete.tags.includes("veille")).toBe(isWatch);
        expect(complete.tier === "watch").toBe(isWatch);
        expect(complete.key.length).toBeLessThanOrEqual(80);
      }),
    );
    expect(completeDraft(FactDraft.parse(draft({ key: "acme.price", tags: ["veille"] }))).key).toBe(
      "watch.acme.price",
    );
    expect(() => completeDraft(FactDraft.parse(draft({ key: "watch.acme" })))).toThrow(
      "watch.<site>.<topic>",
    );
    expect(() => completeDraft(FactDraft.parse(draft({ key: "watch.a.b", tier: "core" })))).toThrow(
      "tier",
    );
    expect(() => completeDraft(FactDraft.parse(draft({ tier: "watch" })))).toThrow("tier");
  });
});

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

describe("search text", () => {
  test("holds key, tags and every part of the value, without case and accents", () => {
    expect(
      searchTextOf({
        key: "food.hot_drinks",
        tags: ["Été"],
        value: { Thé: ["Vert", 3, null, true] },
      }),
    ).toBe("food hot drinks ete the vert 3 true");
  });

  test("never holds what a database cannot store", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (a, b) => {
        const folded = foldText(`${a}\0\ud800${b}`);
        return folded.isWellFormed() && !folded.includes("\0") && foldText(folded) === folded;
      }),
    );
  });

  test("splits scripts without spaces into pairs", () => {
    expect(wordsOf(foldText("Tea 喝绿茶 100%"))).toEqual(["tea", "喝绿", "绿茶", "100"]);
  });
});

test("a key prefix ends at a dot", () => {
  expect(["food", "food.tea", "foodie", "fo"].filter((key) => hasPrefix(key, "food"))).toEqual([
    "food",
    "food.tea",
  ]);
});
