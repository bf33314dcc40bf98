import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { openApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";
import { OpenAiDouble } from "../support/openai-double.ts";
import { UpstashDouble } from "../support/upstash-double.ts";
import { cosineOf, databaseOfTest, openSearching } from "./searching-app.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const THINGS = [
  "apple",
  "birch",
  "cedar",
  "daisy",
  "elder",
  "fern",
  "grape",
  "heath",
  "iris",
  "juniper",
];

let provider: OpenAiDouble;
beforeAll(async () => {
  provider = await OpenAiDouble.start();
});
beforeEach(() => {
  provider.models = { ...provider.models, "nomic-embed-text": 384 };
});
afterEach(() => provider.reset());
afterAll(() => provider.stop());

const NOMIC = { EMBEDDING_MODEL: "nomic-embed-text" };

onBothDatabases((engine) => {
  test("another model with other dimensions is told of, stops nothing, and takes over; and back again", async () => {
    const database = await databaseOfTest(engine);
    const first = await openSearching(engine, database, { ...provider.env, ...NOMIC });
    for (const thing of THINGS) await first.remember(`topic.${thing}`, `the word ${thing}`);
    await first.later(5 * SECOND);
    expect(await first.count("embeddings")).toBe(10);
    expect(cosineOf(await first.recall("topic cedar: the word cedar"), "topic.cedar")).toBeCloseTo(
      1,
      5,
    );
    expect(first.said().join()).not.toContain("another embedding model");
    await first.close();

    const second = await openSearching(engine, database, provider.env, first.clock);
    await second.remember("topic.new", "after the switch");
    const between = await second.recall("topic cedar: the word cedar");
    expect(between.degraded).toBeUndefined();
    expect(between.facts.length).toBeGreaterThan(1);
    expect(between.facts.map(({ cosine }) => cosine)).toEqual(between.facts.map(() => null));
    expect(second.said().filter((line) => line.includes("another embedding model"))).toHaveLength(
      1,
    );
    const [gone] = (await second.recall("the word daisy")).facts;
    expect(gone?.key).toBe("topic.daisy");
    await second.app.ok("forget_fact", { factId: gone?.factId, reason: "asked" });

    await second.later(HOUR);
    expect(cosineOf(await second.recall("topic cedar: the word cedar"), "topic.cedar")).toBeCloseTo(
      1,
      5,
    );
    expect(cosineOf(await second.recall("topic new: after the switch"), "topic.new")).toBeCloseTo(
      1,
      5,
    );
    expect(
      cosineOf(await second.recall("topic daisy: the word daisy"), "topic.daisy"),
    ).toBeUndefined();
    const lengths = await second.query<{ n: number; size: number }>(
      "select count(*)::int as n, max(length(v::text)) > 4000 as size from embeddings",
    );
    expect(lengths).toEqual([{ n: 10, size: true }]);
    const models = await second.query("select dimensions, state from embedding_models");
    expect(models).toEqual([{ dimensions: 1_536, state: "active" }]);
    await second.close();

    const third = await openSearching(engine, database, { ...provider.env, ...NOMIC }, first.clock);
    await third.later(HOUR);
    expect(third.said().filter((line) => line.includes("another embedding model"))).toHaveLength(1);
    expect(cosineOf(await third.recall("topic cedar: the word cedar"), "topic.cedar")).toBeCloseTo(
      1,
      5,
    );
    expect(await third.query("select dimensions, state from embedding_models")).toEqual([
      { dimensions: 384, state: "active" },
    ]);
    expect(await third.count("embeddings")).toBe(10);
  });

  test("starting again with the same model makes no vector anew and takes no number", async () => {
    const database = await databaseOfTest(engine);
    const first = await openSearching(engine, database, provider.env);
    await first.remember("a", "tea");
    await first.later(5 * SECOND);
    await first.close();
    const asked = provider.received.length;
    const numbers = async () => {
      const again = await openSearching(engine, database, provider.env, first.clock);
      await again.later(HOUR);
      const [row] = await again.query<{ n: string }>(
        "select last_value::text as n from embedding_models_id_seq",
      );
      await again.close();
      return row?.n;
    };
    expect(await numbers()).toBe(await numbers());
    expect(provider.received).toHaveLength(asked);
  });

  test("a server that overlooks EMBEDDING_DIMENSIONS is told of, and recall goes by words", async () => {
    provider.heedsDimensions = false;
    const env = { ...provider.env, EMBEDDING_DIMENSIONS: "512" };
    const s = await openSearching(engine, await databaseOfTest(engine), env);
    await s.remember("drink", "green tea");
    await s.later(5 * SECOND);
    const answer = await s.recall("tea");
    expect(answer.facts.map(({ key }) => key)).toEqual(["drink"]);
    expect(answer.degraded).toContain("by words alone");
    const notices = s
      .said()
      .filter((line) => line.includes("sends vectors of 1536 numbers, not of 512"));
    expect(notices).toEqual([expect.stringContaining("Set EMBEDDING_DIMENSIONS to 1536")]);
    expect(await s.count("embeddings")).toBe(0);
    expect(await s.waiting()).toBe(1);
  });

  test.each([
    ["a key that is refused", { OPENAI_API_KEY: "wrong" }, "refuses the key"],
    ["a model that nobody knows", { EMBEDDING_MODEL: "unknown" }, "does not know the model"],
    ["a size that the server overlooks", { EMBEDDING_DIMENSIONS: "512" }, "not of 512"],
  ])("%s is told of at the start, before anybody searches", async (_, env, sentence) => {
    provider.heedsDimensions = false;
    const told = Promise.withResolvers<string>();
    const app = await openApp(engine, {
      env: { LOG_LEVEL: "warn", ...provider.env, ...env },
      // A PostgreSQL without pgvector is told of before.
      logStream: { write: (line) => line.includes(sentence) && told.resolve(line) },
    });
    onTestFinished(() => app.dispose());
    expect(await told.promise).not.toMatch(/quokka|sk-openai|wrong/);
  });

  test("an Upstash index of another size is told of once, and recall goes by words", async () => {
    const remote = await UpstashDouble.start(384);
    try {
      const env = {
        ...{ ...provider.env, VECTOR_INDEX: "upstash" },
        ...{ UPSTASH_VECTOR_REST_URL: remote.url, UPSTASH_VECTOR_REST_TOKEN: remote.token },
      };
      const s = await openSearching(engine, await databaseOfTest(engine), env);
      await s.remember("drink", "green tea");
      await s.later(5 * SECOND);
      const answer = await s.recall("tea");
      expect(answer.facts.map(({ key }) => key)).toEqual(["drink"]);
      expect(answer.degraded).toContain("by words alone");
      const notices = s.said().filter((line) => line.includes("has 384 dimensions"));
      expect(notices).toEqual([expect.stringContaining("make an index of 1536")]);
      await s.close();
    } finally {
      await remote.stop();
    }
  });

  test("without an embedder the log says so once, and nothing is degraded", async () => {
    const s = await openSearching(engine, await databaseOfTest(engine), { EMBEDDER: "none" });
    await s.remember("drink", "green tea");
    await s.later(HOUR);
    const answer = await s.recall("tea");
    expect(answer).not.toHaveProperty("degraded");
    expect(answer.facts.map(({ key, cosine }) => ({ key, cosine }))).toEqual([
      { key: "drink", cosine: null },
    ]);
    const notices = s.said().filter((line) => line.includes("EMBEDDER=none"));
    expect(notices).toEqual(["EMBEDDER=none: recall goes by words alone"]);
  });
});
