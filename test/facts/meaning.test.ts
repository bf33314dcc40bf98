import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/canonical-json.ts";
import { meaningOf, sameMeaning } from "../../src/facts/meaning.ts";

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
