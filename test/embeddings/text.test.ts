import fc from "fast-check";
import { expect, test } from "vitest";
import { headOf, isMostlyLatin } from "../../src/embeddings/text.ts";

test("whatever the text, its head fits, is well-formed and begins the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 40 }), (text, bytes) => {
      const head = headOf(text, bytes);
      if (head === undefined) return;
      expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bytes);
      expect(head.isWellFormed()).toBe(true);
      expect(text.trim().toWellFormed().startsWith(head)).toBe(true);
    }),
  );
});

test("a head ends between characters", () => {
  expect(headOf("oat 🥛 milk", 7)).toBe("oat ");
  expect(headOf("oat 🥛 milk", 8)).toBe("oat 🥛");
});

test.each(["", " ", "\n\t", "?!", "…", "🙂🔥", "\u0000", "\ud83d"])("%j holds no word", (text) => {
  expect(headOf(text, 100)).toBeUndefined();
});

test.each(["a", "7", "é", "我", "я", "🙂 ok"])("%j holds a word", (text) => {
  expect(headOf(text, 100)).toBe(text);
});

test.each([
  ["oat milk", true],
  ["4711", true],
  ["café crème", true],
  ["user.city: 北京", true],
  ["我住在 Paris", true],
  ["我是素食者", false],
  ["Я не ем мяса", false],
  ["ok, これは牛乳です", false],
])("%j is mostly Latin: %s", (text, is) => {
  expect(isMostlyLatin(text)).toBe(is);
});
