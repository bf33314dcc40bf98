import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffLine, diffLines } from "../../src/rules/diff.ts";

const sideOf = (lines: readonly DiffLine[], other: DiffLine["kind"]) =>
  lines
    .filter(({ kind }) => kind !== other)
    .map(({ words }) => words.map(({ text }) => text).join(""));
const shown = (lines: readonly DiffLine[]) =>
  lines.map(({ kind, words }) => {
    const sign = { same: " ", removed: "-", added: "+" }[kind];
    return sign + words.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");
  });

describe("a comparison of two texts", () => {
  test("says which lines came and went, and within changed lines which words", () => {
    const before = "Be polite.\nRefund within 14 days.\nNever promise a date.";
    const after = "Be polite.\nRefund within 30 days.\nNever promise a date.\nSign with your name.";
    expect(shown(diffLines(before, after))).toEqual([
      " Be polite.",
      "-Refund within [14] days.",
      "+Refund within [30] days.",
      " Never promise a date.",
      "+Sign with your name.",
    ]);
  });

  test("of nothing and something is that something; of equal texts, no change", () => {
    expect(shown(diffLines("", "a\nb"))).toEqual(["+a", "+b"]);
    expect(shown(diffLines("a\nb", ""))).toEqual(["-a", "-b"]);
    expect(shown(diffLines("a\nb", "a\nb"))).toEqual([" a", " b"]);
    expect(diffLines("", "")).toEqual([]);
  });

  test("holds both texts whole, whatever they are", () => {
    const text = fc
      .array(fc.constantFrom("a", "b b", "a b c", "", "ça va 👍🏽", " x"), { maxLength: 12 })
      .map((lines) => lines.join("\n"));
    const linesOf = (written: string) => (written === "" ? [] : written.split("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        expect(sideOf(lines, "added")).toEqual(linesOf(before));
        expect(sideOf(lines, "removed")).toEqual(linesOf(after));
        if (before === after) expect(lines.every(({ kind }) => kind === "same")).toBe(true);
      }),
    );
  });

  test("of the longest texts that have nothing in common ends at once", () => {
    const long = (word: string) =>
      Array.from({ length: 16_000 }, (_, n) => `${word}${n}`).join("\n");
    const lines = diffLines(`same\n${long("a")}`, `same\n${long("b")}`);
    expect(lines).toHaveLength(32_001);
    expect(lines[0]?.kind).toBe("same");
  });
});
