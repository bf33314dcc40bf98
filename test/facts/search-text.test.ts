import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldText, searchTextOf, wordsOf } from "../../src/facts/search-text.ts";

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
