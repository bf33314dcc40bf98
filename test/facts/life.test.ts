import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { after, type ClaimState, type Happening, isLive, LIFE } from "../../src/facts/life.ts";

const cells = (Object.keys(LIFE) as ClaimState[]).flatMap((state) =>
  (Object.keys(LIFE[state]) as Happening[]).map((happening) => ({
    state,
    happening,
    next: LIFE[state][happening] as ClaimState | null,
  })),
);

test("every state says what each happening makes of it", () => {
  expect(cells).toHaveLength(7 * 9);
  for (const { state, happening, next } of cells) {
    if (next === null)
      expect(() => after(state, happening)).toThrow(`${state} cannot be ${happening}`);
    else expect(after(state, happening)).toBe(next);
  }
});

test("a claim begins once, and only by being said", () => {
  expect(cells.filter(({ happening, next }) => happening === "new" && next !== null)).toEqual([
    { state: "unsaid", happening: "new", next: "live" },
  ]);
  expect(cells.filter(({ state, next }) => state !== "unsaid" && next === "unsaid")).toEqual([]);
});

test("only a person's decision brings an archived claim back, and nothing an erased one", () => {
  for (const { state, happening, next } of cells) {
    if (next !== null && isLive(next) && !isLive(state) && state !== "unsaid") {
      expect(happening).toBe("restored");
    }
    if (state === "erased") expect(next === null || next === "erased").toBe(true);
    if (state === "expired") expect(next === null || !isLive(next)).toBe(true);
  }
});

test("a statement that confirms finds a live claim; anything else makes a new one", () => {
  for (const { state, happening, next } of cells) {
    if (happening === "confirmed") expect(next !== null).toBe(isLive(state));
  }
});

test("the documentation shows the same table", () => {
  const docs = readFileSync(new URL("../../docs/facts.md", import.meta.url), "utf8");
  const shown = Object.keys(LIFE).map((state) => {
    const line = new RegExp(`^\\| ${state} \\|(.*)\\|$`, "m").exec(docs)?.[1] ?? "";
    return line.split("|").map((cell) => cell.trim());
  });
  const held = Object.values(LIFE).map((row) => Object.values(row).map((next) => next ?? "–"));
  expect(shown).toEqual(held);
});
