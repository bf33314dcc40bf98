import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openServices, type Services } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";
import { EmbedderOfTests } from "./embedder-of-tests.ts";

const never = new AbortController().signal;

onBothDatabases((engine) => {
  const embedder = new EmbedderOfTests();
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;

  beforeAll(async () => {
    opened = await openServices(engine, embedder);
  });
  beforeEach(async () => {
    s = await opened.fresh();
    await run();
    embedder.batches.length = 0;
    embedder.during = undefined;
  });
  afterAll(() => opened.close());

  const run = async (signal = never, services = s) => {
    const { embedding } = services;
    if (!embedding) throw new Error("there is no embedder");
    return embedding.run(signal);
  };
  const count = async (what: string) => {
    const [row] = await s.query<{ n: number }>(`select count(*)::int as n from ${what}`);
    return row?.n;
  };
  const cosine = async (query: string, services = s) => {
    const { facts } = await services.recall({ query, includeArchived: true });
    return facts[0]?.cosine;
  };

  test("interrupted in the middle it goes on where it was: nothing is missing and nothing there twice", async () => {
    for (let n = 0; n < 40; n++) await s.remember({ key: `k.n${n}`, value: `thing ${n}` });
    const stop = new AbortController();
    embedder.during = async () => {
      if (embedder.batches.length === 2) stop.abort(new Error("stopping"));
    };
    await expect(run(stop.signal)).rejects.toThrow("stopping");
    expect(await count("embeddings")).toBe(32);
    embedder.batches.length = 0;
    embedder.during = undefined;
    expect(await run()).toMatchObject({ embedded: 8 });
    expect(embedder.texts).toHaveLength(8);
    expect(await count("embeddings")).toBe(40);
  });

  test("killed between the vectors and the note of them, it makes them again in the same places", async () => {
    for (let n = 0; n < 5; n++) await s.remember({ key: `k.n${n}`, value: `thing ${n}` });
    await run();
    await s.query("update search_documents set model_id = null");
    await s.query("update search_scopes set embed_due = true");
    expect(await run()).toMatchObject({ embedded: 5 });
    expect(await count("embeddings")).toBe(5);
  });

  test("what is written while the last batch of its scope is on its way gets its vector too", async () => {
    await s.remember({ key: "first", value: "one" });
    embedder.during = async () => {
      embedder.during = undefined;
      await s.remember({ key: "second", value: "two" });
    };
    await run();
    expect(embedder.texts).toEqual(["first: one", "second: two"]);
    expect(await count("embeddings")).toBe(2);
    expect(await count("search_scopes where embed_due")).toBe(0);
  });

  test.skipIf(engine === "embedded")(
    "a writer that has not committed yet when its scope is settled is waited for",
    async () => {
      await s.remember({ key: "first", value: "one" });
      const written = Promise.withResolvers<void>();
      const settling = Promise.withResolvers<void>();
      const writer = s.transactions.tenant(s.owner, async (tx) => {
        await tx.execute("update search_scopes set documents = documents + 1, embed_due = true");
        await tx.execute(`
          with f as (
            insert into user_facts (id, org_id, user_id, agent_id, key, value, search_text, confidence, tags, tier,
              half_life_days, source_message_id, written_by, observed_at, created_at)
            select gen_random_uuid(), org_id, user_id, agent_id, 'second', '"two"', '', 1, tags, tier, 365, 'm', 'x',
              observed_at, created_at from user_facts returning id, org_id)
          insert into search_documents (id, org_id, scope_id, user_fact_id, length, context_length, tokens, text_hash,
            words_hash)
          select f.id, f.org_id, s.id, f.id, 2, 2, 1, '', '' from f cross join search_scopes s`);
        written.resolve();
        await settling.promise;
      });
      await written.promise;
      const ran = run();
      for (let waits = 0; waits === 0; await setImmediate()) {
        const [row] = await s.query<{ n: number }>(`select count(*)::int as n from pg_locks l
          join pg_stat_activity a using (pid) where a.datname = current_database() and not l.granted`);
        waits = row?.n ?? 0;
      }
      settling.resolve();
      await writer;
      await ran;
      expect(embedder.texts).toEqual(["first: one", "second: two"]);
      expect(await count("search_scopes where embed_due")).toBe(0);
    },
  );

  test("messages have no vectors until a search missed them; then all have one, and every new one, but not what is kept out", async () => {
    for (const text of ["I went rowing", "keep this out #noremember", "it rained"])
      await s.say(text);
    await run();
    expect(embedder.texts).toEqual([]);
    await s.recall();
    await run();
    expect(embedder.texts).toEqual([]);
    await s.recall({ query: "boats" });
    await run();
    expect(embedder.texts).toHaveLength(2);
    expect(embedder.texts.join()).toContain("I went rowing");
    expect(embedder.texts.join()).toContain("it rained");
    await s.say("and I fished");
    await run();
    expect(embedder.texts).toHaveLength(3);
    expect(embedder.texts.join()).not.toContain("keep this out");
    expect(await count("embeddings")).toBe(3);
  });

  test("somebody's many messages do not hold back what another one says", async () => {
    for (let n = 0; n < 140; n++) await s.say(`message number ${n}`);
    await s.recall({ query: "boats" });
    await s.remember({ userId: "telegram:77", key: "drink", value: "tea" });
    await run();
    const at = embedder.texts.indexOf("drink: tea");
    expect(at).toBe(128);
    expect(embedder.texts).toHaveLength(141);
  });

  test("a text that has no vector is asked for once", async () => {
    await s.say("🙂");
    await s.recall({ query: "boats" });
    await s.remember({ key: "n1", value: "🙂" });
    await run();
    expect(embedder.texts).toContain("🙂");
    expect(await count("search_documents where model_id is null")).toBe(0);
    embedder.batches.length = 0;
    expect(await run()).toMatchObject({ embedded: 0 });
    expect(embedder.texts).toEqual([]);
    expect(await count("search_scopes where embed_due")).toBe(0);
  });

  test("an archived fact loses its place among the vectors, and a restored one gets it back", async () => {
    const { factId } = await s.remember({ key: "drink", value: "tea" });
    await run();
    expect(await cosine("drink: tea")).toBeCloseTo(1, 5);
    await s.review.decide(s.owner, factId, "archive", null);
    await run();
    expect(await count("embeddings")).toBe(0);
    expect(await cosine("drink: tea")).toBeNull();
    await s.review.decide(s.owner, factId, "restore", null);
    await run();
    expect(await cosine("drink: tea")).toBeCloseTo(1, 5);
    expect(await count("embeddings")).toBe(1);
  });

  test("a server that still has the model of before neither undoes the switch nor embeds with it", async () => {
    await s.remember({ key: "drink", value: "tea" });
    await run();
    const first = embedder.fingerprint;
    embedder.fingerprint = `${first}/next`;
    const next = await opened.fresh();
    await next.meaning?.model();
    embedder.batches.length = 0;
    expect(await run()).toMatchObject({ embedded: 0 });
    expect(embedder.texts).toEqual([]);
    expect(await run(never, next)).toMatchObject({ embedded: expect.any(Number) });
    expect(embedder.texts).toContain("drink: tea");
    expect(await run()).toMatchObject({ embedded: 0, removed: 0 });
    const models = await s.query("select fingerprint, state from embedding_models");
    expect(models).toEqual([{ fingerprint: embedder.fingerprint, state: "active" }]);
  });
});
