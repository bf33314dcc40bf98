import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FactDraft } from "../../src/facts/fact.ts";
import { completeDraft } from "../../src/facts/watch.ts";

/** Arrays in arrays. */
function nested(levels: number): unknown {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

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
    { value: nested(201) },
    { value: nested(100_000) },
    { confidence: 1.1 },
    { tags: Array.from({ length: 9 }, (_, i) => `t${i}`) },
    { tags: ["x".repeat(41)] },
    { reasoning: "x".repeat(241) },
    { halfLifeDays: 0 },
    { ttlDays: Number.POSITIVE_INFINITY },
    { tier: "forever" },
    { orgId: "x" },
  ])("with case %# is refused", (over) => {
    expect(FactDraft.safeParse(draft(over)).success).toBe(false);
  });

  test.each([
    { value: "x".repeat(4094) },
    { value: null },
    { value: nested(200) },
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
    expect(completeDraft(FactDraft.parse(draft({ key: "watch.a.b", tier: "core" }))).tier).toBe(
      "watch",
    );
    expect(
      completeDraft(FactDraft.parse(draft({ key: "acme.price", tags: ["Veille"] }))),
    ).toMatchObject({
      key: "watch.acme.price",
      tags: ["veille"],
    });
    expect(() => completeDraft(FactDraft.parse(draft({ tier: "watch" })))).toThrow("tier");
  });
});
