import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { openServices, type Services } from "./services.ts";

const DAY = 86_400_000;

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

  describe("what a statement does", () => {
    test("a first statement is created, and scores its confidence", async () => {
      const answer = await s.remember({ key: "city", value: "lives in Lyon", confidence: 0.9 });
      expect(answer).toMatchObject({ outcome: "created", contradicts: [], score: 0.9 });
      expect(await s.events()).toMatchObject([
        { kind: "created", factId: answer.factId, actor: "key-1", agentId: "atlas" },
      ]);
    });

    test("the same again, in other case and punctuation, is confirmed and keeps both rows", async () => {
      await s.remember({ key: "dog", value: "Rex is a dog", sourceMessageId: "m1" });
      const again = await s.remember({
        key: "dog",
        value: "rex is a  dog.",
        sourceMessageId: "m2",
      });
      expect(again).toMatchObject({ outcome: "confirmed", contradicts: [] });
      expect(await s.rows()).toHaveLength(2);
      const { facts } = await s.recall({ query: "Rex" });
      expect(facts).toMatchObject([{ value: "Rex is a dog", confirmations: 2, contested: false }]);
    });

    test("another value contradicts: both rows stay and the newer one is recalled first", async () => {
      const old = await s.remember({
        key: "food.chinese",
        value: "loves Chinese food",
        sourceMessageId: "m1",
      });
      s.clock.advance(1);
      const answer = await s.remember({
        key: "food.chinese",
        value: "hates Chinese food",
        sourceMessageId: "m2",
      });
      expect(answer).toMatchObject({
        outcome: "contradicts",
        contradicts: [{ factId: old.factId, value: "loves Chinese food" }],
      });
      expect(await s.rows()).toHaveLength(2);
      const { facts } = await s.recall({ query: "chinese food" });
      expect(
        facts.map(({ value, confirmations, contested }) => [value, confirmations, contested]),
      ).toEqual([
        ["hates Chinese food", 1, true],
        ["loves Chinese food", 1, true],
      ]);
      expect((await s.events()).map(({ kind }) => kind)).toEqual(["created", "contested"]);
    });

    test("an older observation that arrives late contradicts, but does not become current", async () => {
      await s.remember({
        key: "home",
        value: "lives in London",
        observedAt: "2026-02-01T00:00:00Z",
      });
      const late = await s.remember({
        key: "home",
        value: "lives in Paris",
        observedAt: "2025-03-01T00:00:00Z",
      });
      expect(late.outcome).toBe("contradicts");
      const { facts } = await s.recall({ query: "lives" });
      expect(facts.map(({ value }) => value)).toEqual(["lives in London", "lives in Paris"]);
    });

    test("a claim from the future is dated now and scores no more than its confidence", async () => {
      const answer = await s.remember({
        key: "x",
        value: "x",
        observedAt: "2036-03-01T00:00:00Z",
        confidence: 0.5,
      });
      expect(answer.score).toBe(0.5);
      const [row] = await s.rows();
      expect(row?.observedAt).toEqual(s.clock.now());
    });

    test("an expired claim contradicts nothing and confirms nothing", async () => {
      await s.remember({ key: "mood", value: "tired", tier: "ephemeral" });
      s.clock.advance(14 * DAY);
      expect((await s.remember({ key: "mood", value: "awake", tier: "ephemeral" })).outcome).toBe(
        "created",
      );
    });
  });

  describe("saying it twice", () => {
    test("twenty identical calls at once make one row, and all get the same answer", async () => {
      const call = { key: "city", value: "lives in Lyon", sourceMessageId: "mX" };
      const answers = await Promise.all(Array.from({ length: 20 }, () => s.remember(call)));
      expect(await s.rows()).toHaveLength(1);
      expect(await s.events()).toHaveLength(1);
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });

    test("of ten values at once one is created, and each later one contradicts all before it", async () => {
      await s.remember({ key: "other", value: 1 });
      const ten = Array.from({ length: 10 }, (_, n) => n);
      await Promise.all(ten.map(() => s.rows()));
      const answers = await Promise.all(ten.map((n) => s.remember({ key: "city", value: n })));
      expect(answers.map(({ contradicts }) => contradicts.length).sort((a, b) => a - b)).toEqual(
        ten,
      );
    });

    test("a repeated source gets its first answer, whatever was said since", async () => {
      const call = { key: "city", value: "lives in Lyon", sourceMessageId: "m1" };
      const first = await s.remember(call);
      s.clock.advance(DAY);
      await s.remember({ key: "city", value: "lives in Paris", sourceMessageId: "m2" });
      expect(await s.remember(call)).toEqual(first);
    });

    test("one source cannot state two values under a key", async () => {
      await s.remember({ key: "city", value: "Lyon", sourceMessageId: "m1" });
      await expect(
        s.remember({ key: "city", value: "Paris", sourceMessageId: "m1" }),
      ).rejects.toMatchObject({
        code: "CONFLICT",
      });
    });

    test("calls without a source count as one occasion an hour", async () => {
      await s.remember({ key: "city", value: "Lyon" });
      await s.remember({ key: "city", value: "Lyon" });
      expect((await s.recall()).facts[0]?.confirmations).toBe(1);
      s.clock.advance(3_600_000);
      await s.remember({ key: "city", value: "Lyon" });
      expect((await s.recall()).facts[0]?.confirmations).toBe(2);
    });

    test("an idempotency key gives the first answer again, and keeps no value", async () => {
      await s.remember({ key: "city", value: "quokka77" });
      const call = { key: "city", value: "Paris", idempotencyKey: "i1" };
      const first = await s.remember(call);
      expect(first.contradicts).toMatchObject([{ value: "quokka77" }]);
      expect(await s.remember(call)).toEqual(first);
      expect(await s.rows()).toHaveLength(2);
      const kept = await s.query("select answer from idempotent_calls");
      expect(JSON.stringify(kept)).not.toContain("quokka77");
      await expect(s.remember({ ...call, value: "Rome" })).rejects.toMatchObject({
        code: "CONFLICT",
      });
    });
  });

  describe("where a statement may go", () => {
    test.each([
      [{ scope: "user", userId: undefined }, "INVALID_INPUT"],
      [{ scope: "store" }, "INVALID_INPUT"],
      [{ scope: "org", userId: "5000000001" }, "INVALID_INPUT"],
      [{ scope: "org", storeId: "main" }, "INVALID_INPUT"],
      [{ scope: "user", userId: "5000000001", storeId: "main" }, "INVALID_INPUT"],
      [{ scope: "store", storeId: "unknown" }, "NOT_FOUND"],
      [{ scope: "user", userId: "00000000-0000-4000-8000-000000000000" }, "NOT_FOUND"],
    ])("%j is %s", async (input, code) => {
      await expect(s.remember({ key: "k", value: 1, ...input })).rejects.toMatchObject({ code });
    });

    test("a key bound to a person writes only that person's facts", async () => {
      await s.remember({ key: "k", value: 1 });
      const [row] = await s.query<{ user_id: string }>("select user_id from user_facts");
      const pinned = { ...s.owner, pins: { userId: String(row?.user_id) } };
      await s.remember({ key: "mine", value: 1, userId: row?.user_id }, pinned);
      await expect(s.remember({ scope: "org", key: "k", value: 1 }, pinned)).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      await expect(
        s.remember({ key: "k", value: 1, userId: "5000000002" }, pinned),
      ).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });

    test("a key bound to a store writes no org facts", async () => {
      const store = await s.orgs.createStore(s.owner, "main", "Main");
      const pinned = { ...s.owner, pins: { storeId: store.id } };
      await s.remember({ scope: "store", key: "hours", value: "9-18" }, pinned);
      expect(await s.rows("store")).toHaveLength(1);
      await expect(s.remember({ scope: "org", key: "k", value: 1 }, pinned)).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
    });

    test("look-alike ids are different people", async () => {
      await s.remember({ key: "k", value: "three", userId: "jane-doe" });
      await s.remember({ key: "k", value: "four", userId: "jane_doe" });
      await expect(
        s.remember({ key: "k", value: "five", userId: "jane-doe " }),
      ).rejects.toMatchObject({ code: "INVALID_INPUT" });
      const { facts } = await s.recall({ userId: "jane-doe", query: "k" });
      expect(facts.map(({ value }) => value)).toEqual(["three"]);
    });
  });

  test("what was learned from an edited message is archived, its revisions' facts too", async () => {
    await s.remember({ key: "a", value: 1, sourceMessageId: "m1" });
    await s.remember({ key: "b", value: 1, sourceMessageId: "m1#2" });
    await s.remember({ key: "c", value: 1, sourceMessageId: "m10" });
    await s.remember({ key: "d", value: 1, sourceMessageId: "m1!" });
    const archived = await s.transactions.tenant(s.owner, (tx) =>
      s.facts.archiveBySource(s.owner, ["m1"], tx),
    );
    expect(archived).toBe(2);
    expect((await s.recall()).facts.map(({ key }) => key).sort()).toEqual(["c", "d"]);
    expect((await s.recall({ includeArchived: true })).facts).toHaveLength(4);
    await expect(s.remember({ key: "a", value: 1, sourceMessageId: "m1" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });

  test("another org's messages of the same id archive nothing here", async () => {
    await s.remember({ key: "a", value: 1, sourceMessageId: "m1" });
    await s.transactions.tenant(s.stranger, (tx) =>
      s.facts.archiveBySource(s.stranger, ["m1"], tx),
    );
    expect((await s.recall()).facts).toHaveLength(1);
  });
});
