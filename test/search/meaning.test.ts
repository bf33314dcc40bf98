import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EmbedderFault } from "../../src/embeddings/embedder.ts";
import { openServices, type Services } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";
import { OpenAiDouble } from "../support/openai-double.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";
import { UpstashDouble, type UpstashTrouble } from "../support/upstash-double.ts";
import { EmbedderOfTests } from "./embedder-of-tests.ts";
import { cosineOf, databaseOfTest, openSearching } from "./searching-app.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const BY_WORDS = expect.stringContaining("by words alone");

let provider: OpenAiDouble;
let remote: UpstashDouble;
beforeAll(async () => {
  provider = await OpenAiDouble.start();
  remote = await UpstashDouble.start(1_536);
});
afterEach(() => {
  provider.reset();
  remote.reset();
});
afterAll(async () => {
  await provider.stop();
  await remote.stop();
});

const upstash = () => ({
  ...{ ...provider.env, VECTOR_INDEX: "upstash" },
  ...{ UPSTASH_VECTOR_REST_URL: remote.url, UPSTASH_VECTOR_REST_TOKEN: remote.token },
});

onBothDatabases((engine) => {
  const open = async (env: Readonly<Record<string, string>>) =>
    openSearching(engine, await databaseOfTest(engine), env);

  describe("a provider that is away", () => {
    test.each([
      ["whose vectors' size is known", "text-embedding-3-small"],
      ["that has never answered yet", "nomic-embed-text"],
    ])(
      "of a model %s holds up no fact, and is left alone for as long as it asks",
      async (_, model) => {
        const s = await open({ ...provider.env, EMBEDDING_MODEL: model });
        provider.trouble = { status: 429, headers: { "retry-after": "120" } };
        await s.remember("hobby", "collects stamps");
        const found = await s.recall("philately stamps");
        expect(found.facts.map(({ key }) => key)).toEqual(["hobby"]);
        expect(found.degraded).toEqual(BY_WORDS);
        await s.later(5 * SECOND);
        expect(await s.waiting()).toBe(1);
        const asked = provider.received.length;
        await s.remember("pet", "a cat", await s.app.createKey({}, "other"));
        await s.later(MINUTE);
        expect(provider.received).toHaveLength(asked);
        expect(await s.waiting()).toBe(2);
        for (let calls = asked; calls < 5; calls++) await s.later(121 * SECOND);
        expect(provider.received).toHaveLength(5);
        provider.trouble = undefined;
        await s.later(121 * SECOND);
        expect(await s.waiting()).toBe(0);
        const again = await s.recall("hobby: collects stamps");
        expect(cosineOf(again, "hobby")).toBeCloseTo(1, 5);
        expect(again).not.toHaveProperty("degraded");
        const told = s.said().filter((line) => line.includes("asks for fewer requests"));
        expect(told).toHaveLength(1);
      },
    );
  });

  test("a message of 200,000 characters is archived whole and found, and so long a query is answered", async () => {
    provider.maxTokens = 400;
    const s = await open(provider.env);
    const text = `绿茶${"很好喝我每天都喝一杯".repeat(19_999)}好好好好好好好好`;
    expect(text).toHaveLength(200_000);
    await s.app.telegram(privateMessage(5000000001, { message_id: 1, text }));
    const first = await s.recall("绿茶".repeat(25_000));
    expect(first.messages).toHaveLength(1);
    await s.later(5 * SECOND);
    expect(await s.waiting()).toBe(0);
    expect(await s.count("embeddings")).toBe(1);
    const [stored] = await s.query<{ text: string }>("select text from chat_messages");
    expect(stored?.text).toBe(text);
    const again = await s.recall(text.slice(0, 50_000));
    expect(again.messages).toHaveLength(1);
    expect(again).not.toHaveProperty("degraded");
    for (const { body } of provider.received) {
      for (const input of body.input) expect(input.isWellFormed()).toBe(true);
    }
  });

  test("an edited message gets another vector", async () => {
    const s = await open(provider.env);
    const message = { message_id: 1, text: "I like tea" };
    await s.app.telegram(privateMessage(5000000001, message));
    await s.recall("tea");
    await s.later(5 * SECOND);
    const [before] = (await s.recall("I like tea")).messages;
    expect(before?.cosine).toBeCloseTo(1, 5);
    const edit = { ...message, text: "I like coffee", edit_date: TELEGRAM_DATE + 60 };
    await s.app.telegram(editedMessage(5000000001, edit));
    const [between] = (await s.recall("I like coffee")).messages;
    expect(between).toMatchObject({ text: "I like coffee", cosine: null });
    await s.later(5 * SECOND);
    const [after] = (await s.recall("I like coffee")).messages;
    expect(after?.cosine).toBeCloseTo(1, 5);
    expect(await s.count("embeddings")).toBe(1);
  });

  test.each<UpstashTrouble>([500, "html", "hang"])(
    "an index elsewhere that fails by %s costs no write, is told of, and is rid of what was forgotten meanwhile",
    async (trouble) => {
      const s = await open(upstash());
      await s.remember("old", "from before");
      await s.later(5 * SECOND);
      const [namespace = ""] = remote.namespaces;
      expect(remote.ids(namespace)).toHaveLength(1);

      remote.trouble = trouble;
      const factId = await s.remember("v", "vector down");
      const found = await s.recall("vector down");
      expect(found.degraded).toEqual(BY_WORDS);
      expect(found.facts.map(({ key }) => key)).toEqual(["v"]);
      const asked = remote.received.length;
      expect((await s.recall("vector down")).degraded).toEqual(BY_WORDS);
      expect(remote.received).toHaveLength(asked);
      const [old] = (await s.recall("from before")).facts;
      for (const id of [factId, old?.factId]) {
        await s.app.ok("forget_fact", { factId: id, reason: "asked" });
      }
      await s.later(MINUTE);
      expect(await s.count("vector_deletions")).toBe(1);
      const told = s.said().filter((line) => line.includes("search by meaning is away"));
      expect(told).toHaveLength(1);
      expect(told.join()).not.toContain("canary");

      remote.trouble = undefined;
      await s.later(2 * MINUTE);
      expect(await s.count("vector_deletions")).toBe(0);
      expect(remote.ids(namespace)).toEqual([]);
      const after = await s.recall("vector down");
      expect(after.facts).toEqual([]);
      expect(after).not.toHaveProperty("degraded");
    },
  );

  test("an archived fact leaves an index elsewhere and stays out of it", async () => {
    const s = await open(upstash());
    const factId = await s.remember("drink", "green tea");
    await s.later(5 * SECOND);
    const [namespace = ""] = remote.namespaces;
    expect(remote.ids(namespace)).toEqual([factId]);
    for (let times = 0; times < 3; times++) {
      s.clock.advance(24 * 60 * MINUTE);
      await s.remember("drink", "coffee");
    }
    for (const minutes of [1, 2, 11, 11]) await s.later(minutes * MINUTE);
    const archived = await s.query<{ id: string; vector: boolean }>(
      `select d.id, d.model_id is not null as vector from search_documents d
       join search_scopes s on s.id = d.scope_id where s.archived`,
    );
    expect(archived).toEqual([{ id: factId, vector: false }]);
    expect(remote.ids(namespace)).toHaveLength(1);
    expect(remote.ids(namespace)).not.toContain(factId);
    expect(await s.count("vector_deletions")).toBe(0);
  });

  test.each([
    ["in the database", () => provider.env],
    ["elsewhere", upstash],
  ])("two orgs with the same words and vectors never meet, with the index %s", async (_, env) => {
    const s = await open(env());
    const keys = [await s.app.createKey({}, "one"), await s.app.createKey({}, "two")];
    const [one = "", two = ""] = keys;
    const ids: string[] = [];
    for (const key of keys) ids.push(await s.remember("drink", "green tea", key));
    await s.later(5 * SECOND);
    for (const [at, key] of keys.entries()) {
      const { facts } = await s.recall("drink: green tea", key);
      expect(facts.map(({ factId }) => factId)).toEqual([ids[at]]);
      expect(facts[0]?.cosine).toBeCloseTo(1, 5);
    }
    await s.app.ok("forget_fact", { factId: ids[0], reason: "asked" }, one);
    expect((await s.recall("drink: green tea", one)).facts).toEqual([]);
    expect((await s.recall("drink: green tea", two)).facts).toHaveLength(1);
  });

  describe("a failed query", () => {
    const embedder = new EmbedderOfTests();
    let opened: Awaited<ReturnType<typeof openServices>>;
    let s: Services;
    beforeAll(async () => {
      opened = await openServices(engine, embedder);
    });
    beforeEach(async () => {
      Object.assign(embedder, { fault: undefined, hangs: false, queries: 0 });
      s = await opened.fresh();
      await s.remember({ key: "drink", value: "tea" });
      await s.embedding?.run(new AbortController().signal);
      await s.recall({ query: "drink: tea" });
    });
    afterAll(() => opened.close());

    test("has recall go by words for fifteen seconds, and then ask again", async () => {
      embedder.fault = new EmbedderFault("away");
      expect((await s.recall({ query: "tea" })).degraded).toEqual(BY_WORDS);
      embedder.fault = undefined;
      embedder.queries = 0;
      s.clock.advance(14 * SECOND);
      const paused = await s.recall({ query: "drink: tea" });
      expect(paused.degraded).toEqual(BY_WORDS);
      expect(paused.facts[0]?.cosine).toBeNull();
      expect(embedder.queries).toBe(0);
      s.clock.advance(SECOND);
      const again = await s.recall({ query: "drink: tea" });
      expect(again).not.toHaveProperty("degraded");
      expect(again.facts[0]?.cosine).toBeCloseTo(1, 5);
    });

    test("that nobody answers is given up after some seconds, and answered by its words", async () => {
      embedder.hangs = true;
      const answer = await s.recall({ query: "tea" });
      expect(answer.degraded).toEqual(BY_WORDS);
      expect(answer.facts.map(({ key }) => key)).toEqual(["drink"]);
    });

    test("for a fault of ours is answered by its words too", async () => {
      embedder.fault = new TypeError("ours") as never;
      expect((await s.recall({ query: "tea" })).degraded).toEqual(BY_WORDS);
      expect((await s.recall({ query: "tea" })).facts).toHaveLength(1);
    });

    test("of an unknown person is refused as one, whatever else fails meanwhile", async () => {
      embedder.fault = new TypeError("ours") as never;
      const unknown = s.recall({ query: "tea", userId: "telegram:404" });
      await expect(unknown).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  });
});
