import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { signedIn } from "../ui/browser.ts";
import { takeExport } from "./exported.ts";
import { importLines, refused } from "./importing.ts";

const PEOPLE = ["telegram:1", "web:2", "web:3"];

const Text = fc.oneof(
  fc.constantFrom("Lyon", "lyon.", "#noremember", "no, actually Paris"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
);
const Value = fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).filter((value) => {
  const text = JSON.stringify(value);
  return !text.includes("-0") && !text.includes("\\u0000");
});
const Person = fc.constantFrom(...PEOPLE);
const Key = fc.constantFrom("home.city", "likes.tea", "watch.shop.prices");

/** What somebody may do, as the tools take it. */
const Act = fc.oneof(
  fc.record({ tool: fc.constant("update_memory"), userId: Person, key: Text, value: Value }),
  fc.record({
    tool: fc.constant("remember_fact"),
    scope: fc.constantFrom("user", "org", "store"),
    userId: Person,
    key: Key,
    value: Text,
    tier: fc.constantFrom("core", "preference", "ephemeral"),
  }),
  fc.record({
    tool: fc.constant("archive_turn"),
    userId: Person,
    channel: fc.constantFrom("web", "app"),
    userMessage: Text,
    assistantMessage: Text,
  }),
  fc.record({ tool: fc.constant("link"), userId: Person, with: Person }),
  fc.record({
    tool: fc.constant("decide"),
    decision: fc.constantFrom("pin", "archive", "settle"),
  }),
  fc.record({ tool: fc.constant("wait"), days: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ tool: fc.constant("consolidate") }),
);

onBothDatabases((engine) => {
  const clock = new TestClock();
  let source: TestApp;
  let target: TestApp;
  beforeAll(async () => {
    source = await openApp(engine, { clock: clock.now, background: false });
    target = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(async () => {
    await source.dispose();
    await target.dispose();
  });

  let world = 0;
  const lived = { userFacts: 0, decisions: 0, messages: 0, entries: 0, links: 0 };
  async function live(acts: readonly Readonly<Record<string, unknown>>[], org: string) {
    const key = await source.createKey({ role: "owner" }, org);
    await source.v1("POST", "/v1/stores", { slug: "shop" }, org);
    const page = await signedIn(source, key);
    let lastFact = "";
    for (const { tool, ...args } of acts) {
      if (tool === "wait") clock.advance(Number(args.days) * 86_400_000);
      else if (tool === "consolidate") await source.v1("POST", "/v1/consolidate");
      else if (tool === "link") {
        const body = { with: args.with, reason: "the same" };
        await source.v1("POST", `/v1/users/${args.userId}/links`, body, org);
      } else if (tool === "decide") {
        if (lastFact) await page.post(`/ui/facts/${lastFact}`, { decision: String(args.decision) });
      } else {
        const { scope, userId, ...rest } = args;
        const owner = scope === "org" ? {} : scope === "store" ? { storeId: "shop" } : { userId };
        const answer = await source.call(
          String(tool),
          { ...rest, ...(scope !== undefined && { scope }), ...owner },
          key,
        );
        if (answer.value?.factId) lastFact = String(answer.value.factId);
      }
      clock.advance(1000);
    }
  }

  test("whatever was lived through is the same after an export and an import, and folds to the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Act, { minLength: 5, maxLength: 25 }), async (acts) => {
        const org = `world-${engine}-${++world}`;
        await live(acts, org);
        await source.v1("POST", "/v1/consolidate");
        const first = await takeExport(source, "org=1", { org });
        for (const name of Object.keys(lived) as (keyof typeof lived)[])
          lived[name] += first.totals[name] ?? 0;
        await target.v1("POST", "/v1/orgs", { slug: org });
        expect(refused(await importLines(target, first.lines, { org, batch: 9 }))).toEqual([]);
        expect((await takeExport(target, "org=1", { org })).body).toBe(first.body);
        await target.v1("POST", "/v1/consolidate");
        expect((await takeExport(target, "org=1", { org })).body).toBe(first.body);
      }),
      { numRuns: 6, seed: 20260301, endOnFailure: true },
    );
    for (const [name, rows] of Object.entries(lived))
      expect([name, rows > 0]).toEqual([name, true]);
  });
});
