import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { links, memoryOf, remembers, saysOnWeb, undo } from "./people.ts";

const SIDES = ["telegram", "web"] as const;
const side = fc.constantFrom(...SIDES);
const key = fc.constantFrom("drink", "town", "size");
const value = fc.constantFrom("tea", "Tea.", "coffee", "milk");
const step = fc.oneof(
  fc.record({ does: fc.constant("entry" as const), side, key, value }),
  fc.record({ does: fc.constant("fact" as const), side, key, value }),
  fc.record({ does: fc.constant("fact" as const), side, key, value }),
  fc.record({ does: fc.constant("message" as const), side, value }),
  fc.record({ does: fc.constant("hours" as const), hours: fc.constantFrom(0.1, 2, 900) }),
  fc.record({ does: fc.constant("consolidate" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const steps = fc.array(step, { minLength: 1, maxLength: 6 });

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let number = 0;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());

  /** Everything an agent sees, with how often each claim was stated; ids and times apart. */
  const seen = async (userId: string) => {
    const { entries, said, facts } = await memoryOf(app, userId);
    const all = { userId, scopes: ["user"], includeArchived: true, limit: 50 };
    const { facts: claims } = await app.ok("recall", all);
    const counted = (claims as Record<string, unknown>[]).map(
      ({ key: name, value: says, confirmations, archived }) => [
        name,
        says,
        confirmations,
        archived,
      ],
    );
    return { entries, said: said.toSorted(), facts, counted: counted.map(String).sort() };
  };

  test("after a link and its undoing each has what they would have had alone, whatever was written before, between and since", async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, steps, async (before, between, since) => {
        number++;
        /** Those who are linked, and two like them who never are. */
        const names = ["linked", "alone"].map((name) => ({
          telegram: `telegram:${name}-${number}`,
          web: `web:${name}-${number}`,
        }));
        const [linked, alone] = names as [(typeof names)[0], (typeof names)[0]];
        let count = 0;
        const perform = async (one: Step) => {
          count++;
          if (one.does === "hours") return clock.advance(one.hours * 3_600_000);
          if (one.does === "consolidate") return app.v1("POST", "/v1/consolidate");
          for (const people of names) {
            const userId = people[one.side];
            if (one.does === "message") await saysOnWeb(app, userId, `${one.value} ${count}`);
            else if (one.does === "fact") await remembers(app, userId, one.key, one.value);
            else await app.ok("update_memory", { userId, key: one.key, value: one.value });
          }
          return clock.advance(1000);
        };
        for (const userId of names.flatMap((people) => [people.telegram, people.web])) {
          await app.ok("update_memory", { userId, key: "known", value: true });
        }
        for (const one of before) await perform(one);
        const link = await links(app, linked.telegram, linked.web);
        for (const one of between) await perform(one);
        await undo(app, link);
        for (const one of since) await perform(one);
        for (const name of SIDES) expect(await seen(linked[name])).toEqual(await seen(alone[name]));
        await app.v1("POST", "/v1/consolidate");
        for (const name of SIDES) expect(await seen(linked[name])).toEqual(await seen(alone[name]));
      }),
      { numRuns: 8, seed: 20260301, endOnFailure: true },
    );
  }, 120_000);
});
