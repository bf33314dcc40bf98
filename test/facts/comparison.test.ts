import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Embedder, EmbedderFault } from "../../src/embeddings/embedder.ts";
import { RetryLater } from "../../src/jobs/retry-later.ts";
import { onBothDatabases } from "../support/database.ts";
import { embedderOf } from "./circle-embedder.ts";
import { openServices, type Services } from "./services.ts";

const HOUR = 3_600_000;
const A = "drinks tea in the morning, at work";
const B = "at work drinks tea in the morning";
const C = "drinks tea at work in the morning";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  beforeAll(async () => {
    opened = await openServices(engine, embedderOf({}).embedder);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  const said = async (value: unknown, sourceMessageId: string) => {
    s.clock.advance(HOUR);
    return s.remember({ key: "habits.morning", value, sourceMessageId });
  };
  const compare = (factId: string, embedder: Embedder | undefined, orgId = s.owner.orgId) =>
    s.comparison(embedder).run({ orgId, factId }, new AbortController().signal);
  const shown = async (factId: string) => {
    const { value, state, confirmations, contested } = await s.facts.find(s.owner, factId);
    return { value, state, confirmations, contested };
  };
  const judgements = async () =>
    (await s.query("select actor from fact_decisions where kind = 'alike'")).length;

  describe("a value in other words", () => {
    test("contradicts at first, and is queued for comparison with ids alone", async () => {
      await said(A, "m1");
      const second = await said(B, "m2");
      expect(second.outcome).toBe("contradicts");
      expect(await s.compared()).toEqual([{ kind: "facts.compare", factId: second.factId }]);
    });

    test("is merged once its meaning is found to be the same, and the trail says by whom", async () => {
      const first = await said(A, "m1");
      const second = await said(B, "m2");
      const { embedder, asked } = embedderOf({ [A]: 0, [B]: 20 });
      expect(await compare(second.factId, embedder)).toEqual({ compared: 1, merged: 1 });
      expect(asked.flat().toSorted()).toEqual([A, B].toSorted());
      expect(await shown(first.factId)).toEqual({
        value: A,
        state: "live",
        confirmations: 2,
        contested: false,
      });
      const rows = await s.rows();
      expect(rows.find(({ id }) => id === second.factId)).toMatchObject({
        mergedInto: first.factId,
        archivedReason: "merged",
      });
      expect(await s.events()).toContainEqual(
        expect.objectContaining({ kind: "merged", factId: second.factId, actor: "system" }),
      );
    });

    test("stays contested below the model's threshold", async () => {
      await said(A, "m1");
      const second = await said(B, "m2");
      const { embedder } = embedderOf({ [A]: 0, [B]: 40 });
      expect(await compare(second.factId, embedder)).toEqual({ compared: 1 });
      expect(await shown(second.factId)).toMatchObject({ contested: true });
    });

    test("is compared with every value of a claim, not with its nearest one", async () => {
      await said(A, "m1");
      const second = await said(B, "m2");
      const { embedder } = embedderOf({ [A]: 0, [B]: 30, [C]: 60 });
      await compare(second.factId, embedder);
      const third = await said(C, "m3");
      expect(await compare(third.factId, embedder)).toEqual({ compared: 1 });
      expect(await shown(third.factId)).toMatchObject({ contested: true });
    });
  });

  test("a job that runs twice, or again after a crash, judges once", async () => {
    await said(A, "m1");
    const second = await said(B, "m2");
    const { embedder } = embedderOf({ [A]: 0, [B]: 20 });
    await compare(second.factId, embedder);
    const before = [await s.rows(), await s.events()];
    expect(await compare(second.factId, embedder)).toEqual({});
    await s.consolidate();
    expect([await s.rows(), await s.events()]).toEqual(before);
    expect(await judgements()).toBe(1);
  });

  test("values of another number, negation or form are not even asked about, whatever their cosine", async () => {
    const values = [
      "deadline is October 15th",
      "deadline is October 16th",
      "no deadline",
      15,
      null,
    ];
    let last = "";
    for (const [at, value] of values.entries()) last = (await said(value, `m${at}`)).factId;
    expect(await s.compared()).toEqual([]);
    const { embedder, asked } = embedderOf({});
    expect(await compare(last, embedder)).toEqual({});
    expect(asked).toEqual([]);
    expect((await s.rows()).filter(({ archivedAt }) => archivedAt === null)).toHaveLength(5);
  });

  test("what a person called true together is left alone, also when that happens while the model thinks", async () => {
    const first = await said(A, "m1");
    const second = await said(B, "m2");
    const { embedder } = embedderOf({ [A]: 0, [B]: 20 });
    const slow: Embedder = {
      ...embedder,
      async embed(texts, priority, signal) {
        s.clock.advance(1);
        await s.review.decide(s.owner, first.factId, "keep_all", null);
        return embedder.embed(texts, priority, signal);
      },
    };
    expect(await compare(second.factId, slow)).toEqual({ compared: 1, merged: 0 });
    expect(await shown(second.factId)).toMatchObject({ state: "live", contested: false });
    expect(await compare(second.factId, embedder)).toEqual({});
    expect(await judgements()).toBe(0);
  });

  test("an edit by a person is not compared with what it replaced", async () => {
    const first = await said(A, "m1");
    await s.review.edit(s.owner, first.factId, B, null);
    expect(await s.compared()).toEqual([]);
  });

  describe("while the embedder is down", () => {
    const caught = async (running: Promise<unknown>) => {
      const error = await running.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RetryLater);
      return error as RetryLater;
    };

    test("a job comes back, later each time and for as long as it takes, and loses no attempt", async () => {
      await said(A, "m1");
      const { factId } = await said(B, "m2");
      const { embedder, fail } = embedderOf({ [A]: 0, [B]: 20 });
      fail(new EmbedderFault("down"));
      const comparison = s.comparison(embedder);
      const run = () =>
        comparison.run({ orgId: s.owner.orgId, factId }, new AbortController().signal);
      const waits: number[] = [];
      for (let outage = 0; outage < 8; outage++) {
        const later = await caught(run());
        expect(later.countsAsAttempt).toBe(false);
        waits.push(later.at.getTime() - s.clock.now().getTime());
        s.clock.advance(waits.at(-1) ?? 0);
      }
      expect(waits.slice(0, 3)).toEqual([30_000, 60_000, 120_000]);
      expect(waits.at(-1)).toBe(15 * 60_000);
      fail(undefined);
      expect(await run()).toEqual({ compared: 1, merged: 1 });
    });

    test("other jobs wait for the same end, and nobody asks before it", async () => {
      await said(A, "m1");
      const { factId } = await said(B, "m2");
      const { embedder, fail, asked } = embedderOf({ [A]: 0, [B]: 20 });
      fail(new EmbedderFault("slow down", { retryAfterMs: 20 * 60_000 }));
      const comparison = s.comparison(embedder);
      const run = () =>
        comparison.run({ orgId: s.owner.orgId, factId }, new AbortController().signal);
      const first = await caught(run());
      fail(undefined);
      expect((await caught(run())).at).toEqual(first.at);
      expect(first.at.getTime() - s.clock.now().getTime()).toBe(20 * 60_000);
      expect(asked).toEqual([]);
    });

    test("what an operator has to mend is looked at once an hour", async () => {
      await said(A, "m1");
      const { factId } = await said(B, "m2");
      const { embedder, fail } = embedderOf({});
      fail(new EmbedderFault("no such model", { needsOperator: true }));
      const { at } = await caught(compare(factId, embedder));
      expect(at.getTime() - s.clock.now().getTime()).toBe(HOUR);
    });

    test("without one nothing is compared", async () => {
      await said(A, "m1");
      const { factId } = await said(B, "m2");
      expect(await compare(factId, undefined)).toEqual({});
    });
  });

  test("forgetting one erases everything that was found to say the same", async () => {
    const first = await said(A, "m1");
    const second = await said(B, "m2");
    const { embedder } = embedderOf({ [A]: 0, [B]: 20 });
    await compare(second.factId, embedder);
    // Said again after it was put away: a claim of its own.
    await s.review.decide(s.owner, first.factId, "archive", null);
    await said(B, "m3");
    expect(await s.facts.forget(s.owner, first.factId, "asked to")).toBe(3);
    expect(await s.rows()).toEqual([]);
    expect(JSON.stringify(await s.events())).not.toMatch(/tea/);
  });

  test("erasing one source leaves what other sources say one claim", async () => {
    await said(A, "m1");
    const second = await said(B, "m2");
    const third = await said(A, "m3");
    const { embedder } = embedderOf({ [A]: 0, [B]: 20 });
    await compare(second.factId, embedder);
    await s.transactions.tenant(s.owner, (tx) => s.facts.eraseBySource(s.owner, ["m1"], tx));
    expect(await shown(third.factId)).toMatchObject({ confirmations: 2, contested: false });
  });

  test("an edited source leaves what other sources say one claim", async () => {
    await said(A, "m1");
    const second = await said(B, "m2");
    const third = await said(A, "m3");
    const { embedder } = embedderOf({ [A]: 0, [B]: 20 });
    await compare(second.factId, embedder);
    await s.transactions.tenant(s.owner, (tx) => s.facts.archiveBySource(s.owner, ["m1"], tx));
    expect(await shown(third.factId)).toMatchObject({ confirmations: 2, contested: false });
  });

  test("a job of one org finds no fact of another", async () => {
    await said(A, "m1");
    const second = await said(B, "m2");
    const { embedder, asked } = embedderOf({ [A]: 0, [B]: 20 });
    expect(await compare(second.factId, embedder, s.stranger.orgId)).toEqual({});
    expect(asked).toEqual([]);
  });
});
