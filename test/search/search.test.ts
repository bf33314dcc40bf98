import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { type IndexUnderTest, openIndex } from "./index-under-test.ts";

const FACTS = [
  "green tea every morning",
  "tea with milk and tea with lemon",
  "coffee",
  "a house by the sea in Brittany",
  "the tea of the house is green",
];

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openIndex>>;
  let s: IndexUnderTest;

  beforeAll(async () => {
    opened = await openIndex(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  test.each([
    ["discounts", "a 100% discount"],
    ["100%", "a 100% discount"],
    ["la réunion", "Réunions le lundi"],
    ["绿茶", "我每天喝绿茶"],
    ["The Who", "The Who"],
    ["hot drinks", "tea"],
    ["beverage", "tea"],
    ["March 2026", "tea"],
  ])("a fact is found by %s: %s", async (query, value) => {
    const { factId } = await s.remember({ key: "food.hot_drinks", value, tags: ["beverage"] });
    await s.remember({ key: "other", value: "unrelated", observedAt: "2025-01-01T00:00:00Z" });
    const [first] = (await s.find(query)).facts;
    expect(first).toBe(factId);
  });

  test("signs are never patterns", async () => {
    const d1 = await s.remember({ key: "d1", value: "discount 100%" });
    await s.remember({ key: "d2", value: "discount 1005" });
    expect((await s.find("100%")).facts).toEqual([d1.factId]);
    for (const query of ["%", "_", "*", "' or x=x --", "tea & | ! :*", "\\", "\0", " "]) {
      expect((await s.find(query)).facts).toEqual([]);
    }
  });

  test("nothing of one org is found or counted in another", async () => {
    await s.remember({ scope: "org", key: "a", value: "tea" });
    await s.remember({ key: "b", value: "tea" });
    await s.say("tea", "tea");
    await s.remember({ key: "b", value: "a house" }, s.stranger);
    const nothing = { facts: [], archived: [], messages: [] };
    expect(await s.find("tea", s.stranger)).toEqual(nothing);
    const scopes = await s.scopesOf(s.owner);
    const found = await s.transactions.tenant(s.stranger, (tx) =>
      s.index.scopes(scopes, ["atlas"], tx),
    );
    expect(found).toEqual({ facts: [], messages: [] });
    const own = await s.transactions.tenant(s.owner, (tx) => s.index.scopes(scopes, ["atlas"], tx));
    const stolen = await s.transactions.tenant(s.stranger, (tx) =>
      s.index.match(own.facts, "tea", 10, tx),
    );
    expect(stolen.hits).toEqual([]);
  });

  test("one agent's pocket is not another's, and archived facts are a scope of their own", async () => {
    const tea = await s.remember({ key: "a", value: "tea", agentId: "maya" });
    const old = await s.remember({ key: "b", value: "tea" });
    await s.review.decide(s.owner, old.factId, "archive", null);
    const found = await s.find("tea");
    expect(found).toEqual({ facts: [], archived: [old.factId], messages: [] });
    expect(tea.factId).not.toBe(old.factId);
  });

  test("scores are those of BM25, to the sixth decimal, on either database", async () => {
    const at = "2026-02-01T00:00:00Z";
    for (const [n, value] of FACTS.entries()) {
      await s.remember({ key: `k${n}`, value, observedAt: at });
    }
    const scopes = await s.scopesOf(s.owner);
    const { hits, attainable, terms } = await s.transactions.tenant(s.owner, async (tx) => {
      const { facts } = await s.index.scopes(scopes, ["atlas"], tx);
      return s.index.match(facts, "Is there green tea?", 10, tx);
    });
    expect(terms).toEqual([
      { term: "green", documents: 2 },
      { term: "tea", documents: 3 },
    ]);
    // Words that count: the day (3), the key (1), and of the value 4, 5, 1, 4 and 3.
    const lengths = [8, 8, 5, 7, 7];
    const rows = await s.query<{ length: number }>(
      "select length from search_documents order by id",
    );
    const average = rows.reduce((sum, { length }) => sum + length, 0) / rows.length;
    expect(rows).toHaveLength(lengths.length);
    const weight = (n: number) => Math.log(1 + (5 - n + 0.5) / (n + 0.5));
    const term = (n: number, f: number, length: number) =>
      (weight(n) * f * 2.2) / (f + 1.2 * (0.25 + (0.75 * length) / average));
    const expected = rows
      .map(({ length }, n) => {
        const green = FACTS[n]?.includes("green") ? 1 : 0;
        const tea = FACTS[n]?.split("tea").length ?? 1;
        return term(2, green, length) + term(3, tea - 1, length);
      })
      .filter((score) => score > 0)
      .sort((a, b) => b - a);
    const having = hits.filter(({ own }) => own > 0);
    expect(having.map(({ own }) => own)).toEqual(expected.map((score) => expect.closeTo(score, 5)));
    expect(having.every(({ own, context }) => own === context)).toBe(true);
    expect(attainable.own).toBeCloseTo((weight(2) + weight(3)) * 2.2, 5);
  });

  test("a message of 200,000 characters without a space is archived, and found by its beginning", async () => {
    const text = `绿茶${"很好喝我每天都喝一杯".repeat(20_000)}`;
    const { userMessageId } = await s.say(text, "好");
    expect((await s.find("绿茶")).messages).toContain(userMessageId);
    const [{ words } = { words: 0 }] = await s.query<{ words: number }>(
      `select count(*)::int as words from search_postings where document_id = '${userMessageId}'`,
    );
    expect(words).toBeLessThanOrEqual(1000);
  });

  test("what every document has is left out, unless nothing else is asked for", async () => {
    await s.remember({ key: "first", value: "tea" });
    await s.query(`
      with f as (
        insert into user_facts (id, org_id, user_id, agent_id, key, value, search_text, confidence, tags, tier,
          half_life_days, source_message_id, written_by, observed_at, created_at)
        select gen_random_uuid(), org_id, user_id, agent_id, 'k' || n, value, '', 1, tags, tier, 365, 'm' || n, 'x',
          observed_at, created_at from user_facts cross join generate_series(1, 2100) n returning id, org_id),
      d as (
        insert into search_documents (id, org_id, scope_id, user_fact_id, length, context_length, tokens, text_hash,
          words_hash)
        select f.id, f.org_id, s.id, f.id, 2, 2, 1, '', '' from f cross join search_scopes s returning *)
      insert into search_postings select scope_id, term, id, org_id, 1, 1, 2, 2
        from d cross join unnest(array['common', 'also']) term`);
    await s.query("update search_scopes set recount_due = true");
    expect((await s.find("common tea")).facts).toHaveLength(1);
    expect((await s.find("common")).facts).toHaveLength(50);
    const plan = await s.transactions.tenant(s.owner, async (tx) => {
      await tx.execute(sql`analyze search_postings`).catch(() => {});
      return tx.execute<{ "QUERY PLAN": string }>(sql`
        explain select document_id, frequency, length from search_postings
        where org_id = ${s.owner.orgId} and scope_id = 1 and term = 'tea' order by document_id desc limit 10`);
    });
    const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text).toContain("Index Only Scan Backward using search_postings_key");
    // Whose rows they may be is asked once, not of every entry.
    expect(text).toContain("One-Time Filter: ((NULLIF(current_setting(");
    expect(text).not.toMatch(/Seq Scan|^\s*Filter:.*current_setting/m);
  });
});
