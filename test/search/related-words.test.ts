import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { queryTerms } from "../../src/search/analysis.ts";
import { relatedWords } from "../../src/search/related-words.ts";
import { onBothDatabases } from "../support/database.ts";
import { type IndexUnderTest, openIndex } from "./index-under-test.ts";

const relatedTo = await relatedWords();

describe("the table of related words", () => {
  test.each([
    ["dog", "puppy"],
    ["doctor", "physician"],
    ["husband", "spouse"],
    ["bicycle", "bike"],
  ])("%s is related to %s", (word, other) => {
    const [term = "", near = ""] = queryTerms(`${word} ${other}`);
    expect(relatedTo(term).map((related) => related.term)).toContain(near);
  });

  test("the nearest come first, eight at most, each a term and a weight of 1 to 100", () => {
    for (const word of ["dog", "car", "happi", "vegetarian", "januari"]) {
      const related = relatedTo(word);
      expect(related.length).toBeLessThanOrEqual(8);
      const weights = related.map(({ weight }) => weight);
      expect(weights).toEqual(weights.toSorted((a, b) => b - a));
      expect(weights.every((weight) => weight >= 1 && weight <= 100)).toBe(true);
      expect(related.every(({ term }) => /^[a-z]+$/.test(term) && term !== word)).toBe(true);
    }
  });

  test.each(["", "zzzz", "dog 1", "绿茶", "__proto__", "the"])("of %j it knows nothing", (word) => {
    expect(relatedTo(word)).toEqual([]);
  });
});

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

  async function match(of: IndexUnderTest, query: string, limit = 50) {
    const scopes = await of.scopesOf(of.owner);
    return of.transactions.tenant(of.owner, async (tx) => {
      const { facts, messages } = await of.index.scopes(scopes, ["atlas"], tx);
      return of.index.match([...facts, ...messages], query, limit, tx);
    });
  }

  test("a fact is found by a word that it says otherwise, after those that have the word", async () => {
    const puppy = await s.remember({ key: "a", value: "gave a puppy to Anna" });
    const dog = await s.remember({ key: "b", value: "gave a dog to Anna" });
    await s.remember({ key: "c", value: "gave a lamp to Anna" });
    const { hits } = await match(s, "dogs");
    expect(hits.map(({ documentId }) => documentId)).toEqual([dog.factId, puppy.factId]);
    expect(hits[0]?.related).toBe(0);
    expect(hits[1]).toMatchObject({ own: 0, context: 0 });
    expect((await s.find("dogs", s.stranger)).facts).toEqual([]);
  });

  const anyWord = fc.constantFrom(
    ...[
      "dog",
      "puppy",
      "canine",
      "pet",
      "animals",
      "car",
      "vehicle",
      "truck",
      "doctor",
      "physician",
      "tea",
    ],
  );
  const anyText = fc.array(anyWord, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));

  test("every hit scores by the nearest word it has in place of each that it lacks, on either database", {
    timeout: 120_000,
  }, async () => {
    const life = fc.array(anyText, { minLength: 4, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(life, fc.array(anyText, { maxLength: 6 }), async (texts, queries) => {
        const of = await opened.fresh();
        for (const [n, text] of texts.entries()) {
          if (n % 2 === 0) await of.remember({ key: `k${n}`, value: text });
          else await of.say(text, texts[n - 1] ?? "");
          of.clock.advance(1000);
        }
        const expected = await reference(of);
        for (const query of queries) {
          const { hits } = await match(of, query);
          const related = new Map(hits.map((hit) => [hit.documentId, hit.related]));
          for (const [id, score] of expected(query)) {
            expect(related.get(id) ?? 0).toBeCloseTo(score, 4);
          }
          const order = hits.map((hit) => [hit.own + hit.context + hit.related, hit.documentId]);
          expect(order).toEqual(order.toSorted(byScoreThenId));
        }
      }),
      { numRuns: 6 },
    );
  });

  test("related words of too many documents are left out, and beyond a bound the commonest of them", async () => {
    await s.remember({ key: "first", value: "unrelated" });
    const near = relatedTo("dog").map(({ term }) => term);
    expect(near).toHaveLength(8);
    const [common = "", ...others] = near;
    await plant(common, 501);
    expect((await match(s, "dog", 9000)).hits).toEqual([]);
    for (const [n, term] of others.entries()) await plant(term, 494 + n);
    // 494 to 497 are 1,982 together; with the next they would be 2,480.
    expect((await match(s, "dog", 9000)).hits).toHaveLength(494 + 495 + 496 + 497);
  });

  /** As many facts of one term each. */
  async function plant(term: string, count: number): Promise<void> {
    await s.query(`
      with f as (
        insert into user_facts (id, org_id, user_id, agent_id, key, value, search_text, confidence, tags, tier,
          half_life_days, source_message_id, written_by, observed_at, created_at)
        select gen_random_uuid(), org_id, user_id, agent_id, '${term}' || n, value, '', 1, tags, tier, 365, 'm' || n,
          'x', observed_at, created_at
        from user_facts cross join generate_series(1, ${count}) n where key = 'first' returning id, org_id),
      d as (
        insert into search_documents (id, org_id, scope_id, user_fact_id, length, context_length, tokens, text_hash,
          words_hash)
        select f.id, f.org_id, s.id, f.id, 1, 1, 1, '', '' from f cross join search_scopes s returning *)
      insert into search_postings select scope_id, '${term}', id, org_id, 1, 1, 1, 1 from d`);
    await s.query("update search_scopes set recount_due = true");
  }
});

interface Entry extends Record<string, unknown> {
  readonly id: string;
  readonly term: string;
  readonly frequency: number;
  readonly length: number;
}

type Ranked = (string | number)[];

function byScoreThenId([a = 0, id = ""]: Ranked, [b = 0, other = ""]: Ranked): number {
  const difference = Math.round(Number(b) * 1e6) - Math.round(Number(a) * 1e6);
  return difference || (id < other ? -1 : 1);
}

/** What related words have to score, worked out of the index's entries one document at a time. */
async function reference(of: IndexUnderTest) {
  const rows = await of.query<Entry>(
    "select document_id as id, term, frequency, length from search_postings where frequency > 0",
  );
  const documents = Map.groupBy(rows, ({ id }) => id);
  const own = (list: readonly Entry[], term: string) => list.find((row) => row.term === term);
  const lengths = [...documents.values()].map(([row]) => row?.length ?? 0);
  const average = lengths.reduce((a, b) => a + b, 0) / lengths.length;
  const weight = (term: string) => {
    const n = rows.filter((row) => row.term === term).length;
    return Math.log(1 + (documents.size - n + 0.5) / (n + 0.5));
  };
  return (query: string): [id: string, score: number][] => {
    const near = queryTerms(query)
      .flatMap((term) => relatedTo(term).map((related) => ({ ...related, instead: term })))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 16);
    return [...documents].map(([id, list]) => {
      const best = new Map<string, number>();
      for (const { instead, term, weight: nearness } of near) {
        const row = own(list, term);
        if (!row || own(list, instead)) continue;
        const { frequency: f, length } = row;
        const lower = Math.min(weight(instead), weight(term));
        const score =
          ((nearness / 100) * lower * f * 2.2) / (f + 1.2 * (0.25 + (0.75 * length) / average));
        best.set(instead, Math.max(best.get(instead) ?? 0, score));
      }
      return [id, [...best.values()].reduce((a, b) => a + b, 0)];
    });
  };
}
