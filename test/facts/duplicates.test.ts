import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { likenessOf } from "../../src/facts/likeness.ts";
import { onBothDatabases } from "../support/database.ts";
import { embedderOf } from "./circle-embedder.ts";
import { openServices, type Services } from "./services.ts";

const never = new AbortController().signal;

test.each([
  ["the same words", "food.diet", "vegetarian", "diet", "Vegetarian.", 0.95, 1],
  ["one word of two things", "home.city", "Paris", "work.city", "Paris", 0.78, undefined],
  ["a whole address of both", "home", "1 rue de la Paix", "office", "1 rue de la Paix", 0.84, 1],
  ["yes and yes", "likes.tea", true, "likes.coffee", true, 0.75, undefined],
  ["other words", "pets", "a dog called Rex", "pet.dog", "has a dog named Rex", 0.92, 0.92],
  ["other words, not near", "pets", "a dog called Rex", "trip", "a dog in Rome", 0.8, undefined],
  ["another number", "size", "wears size 42", "shoes", "wears size 43", 0.97, undefined],
  ["a negation", "diet", "is vegetarian", "food", "is not vegetarian", 0.97, undefined],
  ["one key", "diet", "vegetarian", "diet", "vegetarian", 1, undefined],
])("of %s", (_, keyA, a, keyB, b, cosine, likeness) => {
  const judged = likenessOf({ key: keyA, value: a }, { key: keyB, value: b }, cosine, 0.7);
  expect(judged).toBe(likeness);
});

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;

  beforeAll(async () => {
    const { embedder } = embedderOf({
      "diet: vegetarian food only": 0,
      "food choice: vegetarian food only": 10,
      "pets: a dog called Rex": 60,
      "pet dog: has a dog named Rex": 70,
      "trip: Rome in May": 130,
    });
    opened = await openServices(engine, embedder);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  const embed = async () => {
    if (!s.embedding) throw new Error("there is no embedder");
    await s.embedding.run(never);
  };
  const pairs = async (by = s.owner) =>
    (await s.duplicates.list(by, {})).duplicates.map(({ first, second }) =>
      [first.key, second.key].sort(),
    );
  const remember = async (over: object = {}) => {
    await s.remember({ key: "diet", value: "vegetarian food only", ...over });
    await s.remember({ key: "trip", value: "Rome in May", ...over });
    await embed();
    await s.remember({ key: "food.choice", value: "vegetarian food only", ...over });
    await s.remember({ key: "pets", value: "a dog called Rex", ...over });
    await s.remember({ key: "pet.dog", value: "has a dog named Rex", ...over });
    await embed();
  };

  test("what two keys say alike is found once it has its vector, the most alike first, and stays as it is", async () => {
    await remember();
    expect(await pairs()).toEqual([
      ["diet", "food.choice"],
      ["pet.dog", "pets"],
    ]);
    const { duplicates } = await s.duplicates.list(s.owner, {});
    expect(duplicates.map(({ likeness }) => likeness.toFixed(2))).toEqual(["1.00", "0.98"]);
    expect(await s.rows()).toHaveLength(5);
    expect(await pairs(s.stranger)).toEqual([]);
  });

  test("what lies in another pocket or scope is nothing to compare with", async () => {
    await s.remember({ key: "diet", value: "vegetarian food only", agentId: "maya" });
    await s.remember({ key: "food.choice", value: "vegetarian food only" });
    await s.remember({ key: "food.choice", value: "vegetarian food only", scope: "org" });
    await embed();
    expect(await pairs()).toEqual([]);
  });

  test("a pair that somebody dismissed does not come back, and the trail says who it was", async () => {
    await remember();
    const [pair] = (await s.duplicates.list(s.owner, {})).duplicates;
    const ids = { firstId: pair?.first.factId ?? "", secondId: pair?.second.factId ?? "" };
    await expect(s.duplicates.dismiss(s.stranger, ids)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await s.duplicates.dismiss(s.owner, ids);
    await s.query("update search_documents set model_id = null");
    await s.query("update search_scopes set embed_due = true");
    await embed();
    expect(await pairs()).toEqual([["pet.dog", "pets"]]);
    await expect(s.duplicates.dismiss(s.owner, ids)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(
      await s.query(
        "select action, subject_id, details from audit_events order by id desc limit 1",
      ),
    ).toMatchObject([{ action: "duplicate.dismissed", subject_id: ids.firstId }]);
  });

  test("a pair ends with either of its facts, put away or deleted", async () => {
    await remember();
    const { duplicates } = await s.duplicates.list(s.owner, {});
    await s.review.decide(s.owner, duplicates[0]?.first.factId ?? "", "archive", null);
    await s.facts.forget(s.owner, duplicates[1]?.second.factId ?? "", "twice");
    expect(await pairs()).toEqual([]);
  });

  test("of the org's facts only an admin decides", async () => {
    await remember({ scope: "org" });
    const member = { ...s.owner, role: "member" } as const;
    const [pair] = (await s.duplicates.list(member, {})).duplicates;
    expect(pair?.mayDecide).toBe(false);
    const ids = { firstId: pair?.first.factId ?? "", secondId: pair?.second.factId ?? "" };
    await expect(s.duplicates.dismiss(member, ids)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { userId } = await s.transactions.tenant(s.owner, (tx) =>
      s.users.findOrCreate(s.owner, "telegram:9", tx),
    );
    expect(await pairs({ ...s.owner, pins: { userId } })).toEqual([]);
  });
});
