import { asc } from "drizzle-orm";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { factTables, memoryEvents } from "../../src/db/schema/facts.ts";
import { onBothDatabases } from "../support/database.ts";
import { embedderOf } from "./circle-embedder.ts";
import { openServices, type Services } from "./services.ts";

const DAY = 86_400_000;
const TEA = "drinks tea at work";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;

  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  /** Everything consolidation is answerable for, without ids and the times it ran at. */
  async function dump(of: Services = s) {
    return of.transactions.tenant(of.owner, async (tx) => {
      const { table } = factTables.user;
      const rows = await tx.select().from(table).orderBy(asc(table.observedAt), asc(table.id));
      const places = new Map(rows.map(({ id }, place) => [id, place]));
      const place = (id: string | null) => (id === null ? null : places.get(id));
      const events = await tx.select().from(memoryEvents).orderBy(asc(memoryEvents.id));
      return {
        facts: rows.map((row) => ({
          key: row.key,
          value: row.value,
          observedAt: row.observedAt,
          mergedInto: place(row.mergedInto),
          supersededBy: place(row.supersededBy),
          archivedAt: row.archivedAt,
          archivedReason: row.archivedReason,
          confirmationCount: row.confirmationCount,
          claimConfidence: row.claimConfidence,
          claimTags: row.claimTags,
          contested: row.contested,
          pinned: row.pinned,
          lastConfirmedAt: row.lastConfirmedAt,
          fadesAt: row.fadesAt,
          expiresAt: row.expiresAt,
          isConsolidated: row.consolidatedAt !== null,
        })),
        events: events
          .map(({ kind, factId, at, actor }) => ({ kind, fact: place(factId) ?? null, at, actor }))
          .map((event) => JSON.stringify(event))
          .sort(),
      };
    });
  }

  /** A life of several keys: confirmations, contests, replacements, judgements, tiers that fade and expire. */
  const anyLife = fc.array(
    fc.record({
      afterDays: fc.constantFrom(0, 1, 3, 9),
      key: fc.constantFrom("home", "mood", "offer"),
      value: fc.constantFrom("a", "A.", "b", TEA, "at work drinks tea"),
      isCompared: fc.boolean(),
      halfLifeDays: fc.constantFrom(2, 5, 365),
      ttlDays: fc.constantFrom(undefined, 6, 15),
    }),
    { minLength: 3, maxLength: 12 },
  );

  async function live(
    of: Services,
    life: readonly {
      readonly afterDays: number;
      readonly isCompared: boolean;
      readonly key: string;
      readonly value: string;
    }[],
    eachDay: () => Promise<unknown>,
  ) {
    const { embedder } = embedderOf({ [TEA]: 0, "at work drinks tea": 0 });
    const comparison = of.comparison(embedder);
    for (const { afterDays, isCompared, ...said } of life) {
      for (let day = 0; day < afterDays; day++) {
        of.clock.advance(DAY);
        await eachDay();
      }
      const { factId } = await of.remember(said);
      const { orgId } = of.owner;
      if (isCompared) await comparison.run({ orgId, factId }, new AbortController().signal);
    }
    for (let day = 0; day < 20; day++) {
      of.clock.advance(DAY);
      await eachDay();
    }
    await of.consolidate();
  }

  test("daily, once at the end, and after kills and replays leave the identical state and events", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyLife, async (life) => {
        const [daily, once, torn] = [
          await opened.fresh(),
          await opened.fresh(),
          await opened.fresh(),
        ];
        await live(daily, life, () => daily.consolidate());
        await live(once, life, async () => {});
        // A process killed inside a transaction leaves what was before it; one killed between two leaves half a run.
        let runs = 0;
        await live(torn, life, async () => {
          const killed = new AbortController();
          if (runs++ % 3 === 0) killed.abort();
          await torn.consolidation.run({ signal: killed.signal }).catch(() => {});
        });
        await torn.consolidate();
        expect(await dump(once)).toEqual(await dump(daily));
        expect(await dump(torn)).toEqual(await dump(daily));
      }),
      { numRuns: 4 },
    );
  });

  test("a second run finds nothing to do and writes nothing", async () => {
    for (let n = 0; n < 10; n++) {
      await s.remember({ key: `k${n % 4}`, value: n % 3, tier: "episodic" });
      s.clock.advance(3 * DAY);
    }
    await s.consolidate();
    const before = [await s.rows(), await s.events()];
    for (let run = 0; run < 5; run++) {
      expect(await s.consolidate()).toMatchObject({ keys: 0, merged: 0, faded: 0, expired: 0 });
    }
    expect([await s.rows(), await s.events()]).toEqual(before);
  });

  test("two runs at once merge each pair once and write one set of events", async () => {
    for (let n = 0; n < 50; n++) {
      await s.remember({ key: `k${n}`, value: "x", sourceMessageId: `a${n}` });
      await s.remember({ key: `k${n}`, value: "X", sourceMessageId: `b${n}` });
    }
    await s.query(
      "update user_facts set consolidated_at = null, merged_into = null, archived_at = null, archived_reason = null, confirmation_count = 1",
    );
    await s.query("delete from memory_events");
    await Promise.all([s.consolidate(), s.consolidate()]);
    const rows = await s.rows();
    expect(rows.filter(({ confirmationCount }) => confirmationCount === 2)).toHaveLength(50);
    expect((await s.events()).map(({ kind }) => kind)).toEqual(Array(50).fill("merged"));
  });

  test("archives what faded at the tick it faded, reversibly, and says so in an event", async () => {
    const { factId } = await s.remember({ key: "trip", value: "Rome", tier: "episodic" });
    const fades = (await s.rows())[0]?.fadesAt ?? new Date(0);
    s.clock.advance(fades.getTime() - s.clock.now().getTime() - 1);
    await s.consolidate();
    expect((await s.events()).map(({ kind }) => kind)).toEqual(["created"]);
    s.clock.advance(5 * DAY);
    await s.consolidate();
    expect((await s.recall()).facts).toEqual([]);
    expect((await s.recall({ includeArchived: true })).facts).toMatchObject([{ archived: true }]);
    expect((await s.events()).at(-1)).toMatchObject({ kind: "faded", factId, at: fades });
    expect(await s.facts.find(s.owner, factId)).toMatchObject({
      state: "archived",
      archivedReason: "faded",
    });
  });

  test("deletes what expired with the payloads of its events, merged rows too", async () => {
    const first = await s.remember({ key: "mood", value: "quokka", tier: "ephemeral" });
    s.clock.advance(DAY);
    await s.remember({ key: "mood", value: "Quokka", tier: "ephemeral" });
    s.clock.advance(14 * DAY - 1);
    await s.consolidate();
    expect(await s.rows()).toHaveLength(2);
    s.clock.advance(1);
    await s.consolidate();
    expect(await s.rows()).toEqual([]);
    expect(JSON.stringify(await s.events()).toLowerCase()).not.toContain("quokka");
    expect((await s.events()).filter(({ kind }) => kind === "expired")).toHaveLength(2);
    await expect(s.facts.find(s.owner, first.factId)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("facts under different keys never touch each other", async () => {
    await s.remember({ key: "ana.job", value: "Ana works at Acme" });
    await s.remember({ key: "ana.repo", value: "Ana administers Acme's repository" });
    for (let n = 0; n < 20; n++) {
      await s.remember({ key: `orders.c${n}`, value: `customer ${n} ordered lamp ${100 + n}` });
      await s.remember({ key: "orders", value: `customer ${n} ordered lamp ${100 + n}` });
    }
    await s.consolidate();
    const { facts } = await s.recall({ limit: 50, budgetTokens: 10_000 });
    expect(facts.filter(({ key }) => key.startsWith("ana."))).toMatchObject([
      { contested: false },
      { contested: false },
    ]);
    expect(facts.filter(({ key }) => key.startsWith("orders."))).toHaveLength(20);
    expect(facts.filter(({ key }) => key === "orders")).toHaveLength(20);
    expect((await s.rows()).every(({ mergedInto }) => mergedInto === null)).toBe(true);
  });

  test("values that differ by a number or a negation stay two, whatever an embedder would say", async () => {
    await s.remember({ key: "deadline", value: "Project deadline is October 15th" });
    await s.remember({ key: "deadline", value: "Project deadline is October 16th" });
    await s.remember({ key: "diet", value: "vegetarian" });
    await s.remember({ key: "diet", value: "not vegetarian" });
    await s.consolidate();
    expect((await s.recall()).facts).toHaveLength(4);
  });

  test("after four idle months core and preference facts are all recalled", async () => {
    for (let n = 0; n < 10; n++) {
      await s.remember({ key: `core${n}`, value: n, tier: "core", confidence: 0.4 });
      await s.remember({ key: `likes.n${n}`, value: n, confidence: 0.4 });
    }
    s.clock.advance(123 * DAY);
    await s.consolidate();
    expect((await s.recall({ limit: 50 })).facts).toHaveLength(20);
  });

  test("folds only the keys that are due", async () => {
    for (let n = 0; n < 30; n++) await s.remember({ key: `k${n}`, value: n });
    await s.consolidate();
    await s.query("update user_facts set consolidated_at = null where key = 'k7'");
    expect(await s.consolidate()).toMatchObject({ keys: 1 });
  });

  test("one key that cannot be folded is counted and keeps none of the others from it", async () => {
    for (let n = 0; n < 5; n++) await s.remember({ key: `k${n}`, value: n });
    await s.consolidate();
    const system = (statement: string) =>
      s.transactions.system("operator", (tx) => tx.execute(statement));
    await s.query("update user_facts set consolidated_at = null");
    await system(
      "alter table user_facts add constraint poison check (key <> 'k2' or consolidated_at is null) not valid",
    );
    const { failed, keys } = await s.consolidate();
    expect([failed, keys]).toEqual([1, 5]);
    const left = (await s.rows()).filter(({ consolidatedAt }) => consolidatedAt === null);
    expect(left.map(({ key }) => key)).toEqual(["k2"]);
    await system("alter table user_facts drop constraint poison");
    expect(await s.consolidate()).toMatchObject({ failed: 0, keys: 1 });
  });
});
