import fc from "fast-check";
import { expect, test } from "vitest";
import { foldText } from "../../src/facts/search-text.ts";
import { fragmentsOf, relevanceOf, termsOf } from "../../src/recall/match.ts";

const match = (query: string, ...texts: string[]) =>
  relevanceOf(termsOf(query), texts.map(foldText)).map((value) => Math.round(value * 100) / 100);

test("numbers are equal or not, words may go on", () => {
  expect(match("1005", "order 10051", "order 1005")).toEqual([0, 1]);
  expect(match("vegetarian", "vegetarianism", "veg", "vegetarians")).toEqual([0.5, 0, 1]);
});

test("a rare word outweighs a common one", () => {
  const [common, rare] = match("the zebra", "the horse", "a zebra", "the dog", "the cat");
  expect(rare).toBeGreaterThan(common ?? 1);
});

test("signs that mean something are looked for as they stand, sentence marks are not", () => {
  expect(termsOf("Is it 100%, or c++?").literals).toEqual(["100%", "c++"]);
  expect(match("(tea)!", "green tea")).toEqual([1]);
  const [whole, pieces] = match("ana@example.com", "mail ana@example.com", "ana at example");
  expect([whole, (pieces ?? 1) < 0.5]).toEqual([1, true]);
});

test("whatever matches holds a fragment that a database can look for", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("Tea", "teas 100%", "绿茶", "été"),
  );
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 4 }),
      fc.array(text, { maxLength: 4 }),
      (query, words) => {
        const folded = foldText(words.join(" "));
        const terms = termsOf(query.join(" "));
        const [relevance = 0] = relevanceOf(terms, [folded]);
        expect(relevance).toBeLessThanOrEqual(1);
        if (relevance === 0) return;
        expect(fragmentsOf(terms).some((fragment) => folded.includes(fragment))).toBe(true);
      },
    ),
  );
});
