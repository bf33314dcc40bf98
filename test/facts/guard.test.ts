import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayMeanTheSame } from "../../src/facts/guard.ts";

const both = (a: unknown, b: unknown) => [mayMeanTheSame(a, b), mayMeanTheSame(b, a)];

describe("never the same, however close their vectors are:", () => {
  test.each<[what: string, a: unknown, b: unknown]>([
    ["another date", "Project deadline is October 15th", "Project deadline is October 16th"],
    ["another amount", "plan costs 20 dollars a month", "plan costs 30 dollars a month"],
    ["another spelled-out number", "has two cats", "has three cats"],
    ["a decimal point moved", "drinks 1.5 l a day", "drinks 15 l a day"],
    ["a sign", "-5 degrees", "5 degrees"],
    ["another unit", "runs 10 km", "runs 10 miles"],
    ["another currency", "pays $10", "pays €10"],
    ["another magnitude", "earns 10k", "earns 100k"],
    ["another version", "runs v1.2.3", "runs v1.2.4"],
    ["another time", "opens at 9:30", "opens at 9:15"],
    ["day and month turned", "born 03/04/1990", "born 04/03/1990"],
    ["a score turned", "won 5-3", "won 3-5"],
    ["one and several", "has a son", "has sons"],
    ["a negation", "is vegetarian", "is not vegetarian"],
    ["a short negation", "can eat nuts", "can't eat nuts"],
    ["a French negation", "aime le thé", "n'aime pas le thé"],
    ["a German negation", "isst Fleisch", "isst kein Fleisch"],
    ["two negations and one", "doesn't dislike it", "doesn't like it"],
    [
      "no longer",
      "works there as a cook in the evening",
      "no longer works there as a cook in the evening",
    ],
    ["what is negated", "likes tea, not coffee", "likes coffee, not tea"],
    ["where the negation stands", "is not tall and blond", "is tall and not blond"],
    ["where the operator stands", "eats only fish on Friday", "eats fish only on Friday"],
    ["operators changed about", "always late and never early", "never late and always early"],
    [
      "a deed undone",
      "the order of two red chairs for the office",
      "cancelled the order of two red chairs for the office",
    ],
    ["a degree", "Mental health: High stress levels", "Mental health: Very high stress levels"],
    ["used to", "smokes on the balcony", "used to smoke on the balcony"],
    ["the past", "lives in Lyon", "lived in Lyon"],
    ["the French past", "habite à Lyon", "habitait à Lyon"],
    ["a possibility", "moves to Berlin in May", "may move to Berlin in May"],
    ["a wish", "owns a house by the sea", "wants to own a house by the sea"],
    ["an antonym by prefix", "likes tea", "dislikes tea"],
    ["a value in place of another", "Good", "Excellent"],
    ["a name in place of another", "lives with Anna", "lives with Hannah"],
    ["a colour in place of another", "drives the red car to work", "drives the blue car to work"],
    [
      "a colour in place of another in a long text",
      "the red car of the mayor stands in the garage by the park",
      "the blue car of the mayor stands in the garage by the park",
    ],
    ["words of one Latin root", "studies at the university", "studies at the universal"],
    ["all and some", "all orders ship free", "some orders ship free"],
    ["always and never", "always late", "never late"],
    ["a frequency", "eats meat", "sometimes eats meat"],
    ["at least and at most", "at least 5 people", "at most 5 people"],
    ["up to", "up to 10 people", "10 people"],
    ["and and or", "5 and 6 people", "5 or 6 people"],
    ["without", "drinks coffee with milk", "drinks coffee without milk"],
    ["before and after", "call before noon", "call after noon"],
    ["from and to", "ships to France", "ships from France"],
    ["who does it to whom", "Anna calls Bob", "Bob calls Anna"],
    ["a passive of the same order", "Anna calls Bob", "Anna is called by Bob"],
    ["pronouns turned", "she calls him", "he calls her"],
    ["somebody else's", "likes my dog", "likes her dog"],
    ["a preference turned", "prefers tea to coffee", "prefers coffee to tea"],
    ["a French preference turned", "préfère le thé au café", "préfère le café au thé"],
    ["a journey turned", "moved from Paris to Lyon", "moved from Lyon to Paris"],
    ["colours changed about", "a black dog and a white cat", "a white dog and a black cat"],
    ["numbers changed about", "2 cats and 3 dogs", "3 cats and 2 dogs"],
    ["more said in a short text", "likes red wine", "likes dry red wine"],
    ["more said behind a label", "Job title: wellness coach", "Job title: senior wellness coach"],
    [
      "a name added",
      "runs the shop in the old town of Lyon",
      "runs the Apple shop in the old town of Lyon",
    ],
    [
      "somebody named",
      "Lives in the old town of Lyon by the river",
      "Anna lives in the old town of Lyon by the river",
    ],
    ["a symbol", "knows C", "knows C++"],
    ["a blood group", "B-", "B"],
    ["an emoji", "👍", "👎"],
    ["letters that are words", "A", "the"],
    ["scripts that it cannot read", "ест мясо по утрам в кафе", "не ест мясо по утрам в кафе"],
    ["numbers", 1, 1],
    ["objects", { a: 1 }, { a: 1 }],
    ["null and its word", null, "null"],
    ["nothing", "", "   "],
  ])("%s", (_what, a, b) => {
    expect(both(a, b)).toEqual([false, false]);
  });

  test("texts that a model reads only in part", () => {
    const long = Array.from({ length: 101 }, (_, at) => `w${"abcdefghij"[at % 10]}x`).join(" ");
    expect(mayMeanTheSame(long, `${long}!`)).toBe(false);
  });
});

describe("may be the same:", () => {
  test.each<[what: string, a: string, b: string]>([
    ["articles and subjects", "User lives in Lyon", "lives in Lyon"],
    ["the first person told", "I live in Lyon", "The user lives in Lyon"],
    ["numbers written in other ways", "earns ten thousand euros", "earns 10,000 euros"],
    ["thousands", "earns 10k euros", "earns 10000 euros"],
    ["tens and units", "owns twenty-five books", "owns 25 books"],
    ["ordinals", "deadline is October 15th", "deadline is on October 15"],
    ["a list in another order", "likes tea and coffee", "likes coffee and tea"],
    ["contractions", "doesn't eat meat", "does not eat meat"],
    ["French contractions", "n’aime pas le café", "n'aime pas le café"],
    ["a French negation without its ne", "ne mange pas de viande", "mange pas de viande"],
    ["words that are one in every use", "has 2 kids", "has two children"],
    ["the passive", "a man is playing a guitar", "a guitar is being played by a man"],
    ["moved parts", "moved from Paris to Lyon", "moved to Lyon from Paris"],
    ["forms of a word", "works as a nurse", "working as a nurse"],
    [
      "a word more in a long text",
      "a man with a beard is playing a guitar on stage",
      "a skilled man with a beard is playing a guitar on stage",
    ],
  ])("%s", (_what, a, b) => {
    expect(both(a, b)).toEqual([true, true]);
  });
});

test("the order of the two makes no difference, and no text is too odd for it", () => {
  const word = fc.constantFrom(
    "tea",
    "to",
    "Anna",
    "calls",
    "is",
    "by",
    "not",
    "2",
    "10k",
    "-",
    "é",
    "'s",
    "n't",
    "a",
    "all",
  );
  const text = fc.oneof(
    fc.array(word, { maxLength: 8 }).map((words) => words.join(" ")),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [one, other] = both(a, b);
      expect(one).toBe(other);
    }),
    { numRuns: 2000 },
  );
});
