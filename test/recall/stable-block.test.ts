import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServices } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";

const HOUR = 3_600_000;
const KEYS = ["food.tea", "city", "watch.acme.price", "pet"] as const;
const VALUES = ["green tea", "Lyon", "19 EUR", "a cat called Mia"] as const;
const TIERS = ["core", "preference", "episodic", "ephemeral"] as const;

/** One thing that changes memory. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("remember" as const),
    key: fc.constantFrom(...KEYS),
    value: fc.constantFrom(...VALUES),
    tier: fc.constantFrom(...TIERS),
    confidence: fc.constantFrom(0.4, 0.8, 1),
    hours: fc.integer({ min: 0, max: 24 * 40 }),
  }),
  fc.record({
    kind: fc.constant("say" as const),
    text: fc.constantFrom("I had green tea in Lyon", "my cat is ill", "what a price!"),
    hours: fc.integer({ min: 0, max: 24 * 40 }),
  }),
  fc.record({
    kind: fc.constant("rules" as const),
    text: fc.constantFrom("", "Be polite.", "# Tone\n\nBe brief."),
    hours: fc.integer({ min: 0, max: 24 }),
  }),
  fc.record({ kind: fc.constant("consolidate" as const), hours: fc.integer({ min: 0, max: 900 }) }),
);
/** How long nothing happens: less than a second, days, years. */
const pause = fc.constantFrom(1, 999, 26 * HOUR, 200 * 24 * HOUR, 3000 * 24 * HOUR);

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  beforeAll(async () => {
    opened = await openServices(engine);
  });
  afterAll(() => opened.close());

  test("whatever was remembered, a block stays the same bytes while nothing is written, however much time passes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        pause,
        fc.constantFrom(undefined, "tea in Lyon", "the cat", "what does acme ask?"),
        fc.constantFrom(60, 200, 1400),
        async (steps, idle, query, budgetTokens) => {
          const s = await opened.fresh();
          await s.remember({ key: "first", value: "known" });
          for (const one of steps) {
            s.clock.advance(one.hours * HOUR);
            if (one.kind === "remember") {
              const { key, value, tier, confidence } = one;
              await s.remember({
                key,
                value,
                confidence,
                ...(!key.startsWith("watch") && { tier }),
              });
            } else if (one.kind === "say") await s.say(one.text);
            else if (one.kind === "rules") {
              const { version: basedOn } = await s.rules.current(s.owner, {});
              await s.rules.save(s.owner, { text: one.text, basedOn });
            } else await s.consolidate();
          }
          const blocks = async () => {
            const { memoryBlock, stableBlock, etag, tokens } = await s.recall({
              query,
              budgetTokens,
            });
            return { memoryBlock, stableBlock, etag, tokens };
          };
          const before = await blocks();
          s.clock.advance(idle);
          expect(await blocks()).toEqual(before);
          expect(before.tokens).toBeLessThanOrEqual(budgetTokens);
        },
      ),
      { numRuns: 25 },
    );
  });
});
