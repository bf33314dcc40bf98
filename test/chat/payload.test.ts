import { expect, test } from "vitest";
import { cleanJson } from "../../src/chat/payload.ts";

test("keys are made storable too, and a key named __proto__ is an ordinary one", () => {
  const clean = cleanJson(JSON.parse('{"a\\u0000":1,"__proto__":{"x":"\\ud83d"}}'));
  expect(JSON.stringify(clean)).toBe('{"a\uFFFD":1,"__proto__":{"x":"\uFFFD"}}');
  expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
});

test("what no archive could hold becomes null: beyond 200 levels, infinite numbers", () => {
  const deep = JSON.parse(`${"[".repeat(300)}1${"]".repeat(300)}`);
  expect(JSON.stringify(cleanJson(deep))).toBe(`${"[".repeat(200)}null${"]".repeat(200)}`);
  expect(cleanJson([Number.POSITIVE_INFINITY, 1.5])).toEqual([null, 1.5]);
});
