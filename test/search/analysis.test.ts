import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyse, queryTerms } from "../../src/search/analysis.ts";

const finds = (query: string, text: string) => {
  const { terms, stopWords } = analyse(text);
  return queryTerms(query).some((term) => [...terms, ...stopWords].includes(term));
};

describe("words of a text", () => {
  test.each([
    ["organizing", "She organizes trips"],
    ["remembered", "remember the milk"],
    ["Caroline", "Caroline's dog"],
    ["ses réunions", "La réunion de lundi"],
    ["déménagé", "Elle va déménager bientôt"],
    ["MUNCHEN", "München"],
    ["œuvre", "une oeuvre"],
    ["paris", "C'était à l'hôtel de Paris"],
    ["绿茶", "我喝绿茶"],
    ["猫", "我的猫很可爱"],
    ["집", "우리집에"],
    ["чай", "зелёный чай"],
    ["شاي", "أحب شاي"],
    ["c++", "writes C++, mostly"],
    ["#garden", "photos (#garden)"],
    ["anna@example.com", "mail anna@example.com."],
    ["example", "mail anna@example.com"],
    ["10.5", "size 10.5"],
    ["v1.2.3", "released v1.2.3!"],
    ["2026-11-30", "due 2026-11-30"],
    ["not", "does not eat meat"],
  ])("%s finds: %s", (query, text) => {
    expect(finds(query, text)).toBe(true);
  });

  test.each([
    ["100%", "discount 1005"],
    ["%", "discount 100% and more"],
    ["_", "a_b"],
    ["*", "anything"],
    ["the tea", "the coffee"],
    ["绿茶", "绿色的茶"],
    ["cat", "category"],
  ])("%s does not find: %s", (query, text) => {
    expect(finds(query, text)).toBe(false);
  });

  test("a query of stop words alone looks for those, and any other leaves them out", () => {
    expect(queryTerms("The Who")).toEqual(["the", "who"]);
    expect(queryTerms("Who likes the tea?")).toEqual(["like", "tea"]);
  });

  test("a single character of a script without spaces counts where it stands alone", () => {
    expect(queryTerms("绿茶")).toEqual(["绿茶"]);
    expect(queryTerms("茶")).toEqual(["茶"]);
  });

  test("whatever a text holds, its terms can be stored and indexed", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ maxLength: 300 }),
      fc.constant("x".repeat(30_000)),
      fc.constant(`${"😀".repeat(100)}a+`),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const { terms, stopWords } = analyse(`${text}\0\ud800`);
        return [...terms, ...stopWords].every(
          (term) => term !== "" && term.length <= 64 && term.isWellFormed() && !term.includes("\0"),
        );
      }),
    );
  });
});

test("a long run of digits, signs or marks is cut before it is looked at closely", () => {
  // Uncut, each of these would take seconds: their time grows by the square of their length.
  for (const unit of ["1", "/", "1a", "\u0f73", "\ufdfa"]) {
    const { terms, stopWords } = analyse(unit.repeat(200_000));
    expect(
      [...terms, ...stopWords].every((term) => term.length <= 64),
      unit,
    ).toBe(true);
  }
});
