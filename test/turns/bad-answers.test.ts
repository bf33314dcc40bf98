import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Behaviour } from "../support/anthropic-double.ts";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, HOUR, type Learning, MINUTE, openLearning } from "./learning.ts";

const GOOD = draftOf("home.city", "Lyon");

onBothDatabases((engine) => {
  let learning: Learning;
  let person = 2000;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());
  beforeEach(async () => {
    await learning.fresh();
    person++;
  });
  const calls = () => learning.double.received.length;
  /** One turn of the person, and what the provider does with it now. */
  const learn = async (behaviour: Behaviour, text = "I moved to Lyon") => {
    learning.double.next(behaviour);
    const turn = await learning.turn(person, text);
    await learning.settle();
    return turn;
  };
  const turn = async () => (await learning.turnsOf(person))[0];
  const values = async () => (await learning.factsOf(person)).map(({ value }) => value);

  test("JSON in prose and a fence is read", async () => {
    const json = JSON.stringify({ facts: [{ key: "pet", value: "cat", confidence: 0.9 }] });
    await learn({ text: `Here are the facts:\n\`\`\`json\n${json}\n\`\`\` Hope it helps` });
    expect(await values()).toEqual(["cat"]);
  });

  test("a malformed fact costs itself, and is counted", async () => {
    const before = await learning.metric("souvenir_extraction_drops_total");
    await learn({
      facts: [GOOD, draftOf("Bad Key!", 1), draftOf("a.b", 1, { confidence: 7 })],
    });
    expect(await values()).toEqual(["Lyon"]);
    expect(await turn()).toMatchObject({
      factCount: 1,
      dropped: { "invalid-key": 1, "invalid-confidence": 1 },
    });
    expect(await learning.metric("souvenir_extraction_drops_total")).not.toEqual(before);
  });

  test("a fact that no database holds costs itself alone, and absurd counts of tokens are kept small", async () => {
    const numbers = { inputTokens: 1e15, outputTokens: 1e300 };
    await learn({
      facts: [draftOf("a.b", "nul \0"), draftOf("a.c", ["\ud800"]), GOOD],
      ...numbers,
    });
    expect(await values()).toEqual(["Lyon"]);
    expect(await turn()).toMatchObject({
      state: "extracted",
      dropped: { invalid: 2 },
      inputTokens: 2_147_483_647,
      outputTokens: 2_147_483_647,
    });
  });

  const BAD: readonly (readonly [string, Behaviour, string])[] = [
    ["nothing", { text: "" }, "unreadable"],
    ["prose", { text: "I cannot help with that" }, "unreadable"],
    ["half an object", { text: '{"facts":[{' }, "unreadable"],
    ["an answer cut short", { text: '{"facts":[{', stopReason: "max_tokens" }, "truncated"],
    ["a refusal", { text: null, stopReason: "refusal" }, "refused"],
    ["429", { status: 429 }, "rate-limited"],
    ["500", { status: 500 }, "unavailable"],
    ["529", { status: 529 }, "overloaded"],
    ["a broken connection", { drops: true }, "unavailable"],
    ["a refused key", { status: 401 }, "misconfigured"],
  ];
  test.each(BAD)("%s is tried again, and the turn says why it waits", async (_, bad, reason) => {
    await learn(bad);
    expect(await turn()).toMatchObject({ state: "closed", reason });
    expect(await values()).toEqual([]);
    learning.double.next({ facts: [GOOD] });
    await learning.later(6 * MINUTE);
    expect(await turn()).toMatchObject({ state: "extracted", reason: null });
    expect(await values()).toEqual(["Lyon"]);
    expect(calls()).toBe(2);
  });

  test("more than five facts and one of a megabyte are left out", async () => {
    const many = Array.from({ length: 200 }, (_, n) => draftOf(`likes.n${n}`, n));
    await learn({ facts: [draftOf("big", "x".repeat(1_000_000)), ...many] });
    expect(await values()).toEqual([0, 1, 2, 3, 4]);
    expect(await turn()).toMatchObject({ dropped: { "too-large": 1, "too-many": 195 } });
  });

  test("a provider that does not answer is left alone, and asked again", async () => {
    const patient = await openLearning(engine, { env: { EXTRACTION_MODEL: "claude-slow" } });
    try {
      patient.double.next({ status: 504 }, { facts: [GOOD] });
      await patient.turn(person, "I moved to Lyon");
      await patient.settle();
      expect(await patient.turnsOf(person)).toMatchObject([{ state: "closed", reason: "timeout" }]);
      await patient.later(MINUTE);
      expect(await patient.turnsOf(person)).toMatchObject([
        { state: "extracted", model: "claude-slow" },
      ]);
    } finally {
      await patient.close();
    }
  });

  test.each([
    ["garbage", { text: "lorem ipsum" }, "unreadable"],
    ["429", { status: 429 }, "rate-limited"],
    ["500", { status: 500 }, "unavailable"],
    ["529", { status: 529 }, "overloaded"],
  ] as const)(
    "after eight attempts that gave %s the turn is laid aside, and can be replayed",
    async (_, bad, reason) => {
      learning.double.behaviour = bad;
      await learn(bad);
      await learning.exhaust();
      expect(calls()).toBe(8);
      const dead = await turn();
      expect(dead).toMatchObject({ state: "dead", reason });
      const job = (await learning.extractJobs()).findLast(({ payload }) =>
        payload.includes(String(dead?.id)),
      );
      expect(job?.state).toBe("dead");
      expect(await learning.metric('souvenir_extractions_total{outcome="dead"}')).not.toEqual([]);

      learning.double.behaviour = { facts: [GOOD] };
      const replayed = await learning.app.v1("POST", `/v1/jobs/${job?.id}/replay`);
      expect(replayed.status).toBeLessThan(300);
      await learning.later(HOUR);
      expect(await turn()).toMatchObject({ state: "extracted", reason: null, factCount: 1 });
      expect(await values()).toEqual(["Lyon"]);
    },
  );

  test("a dead turn is tried again on its own route too", async () => {
    learning.double.behaviour = { text: "lorem ipsum" };
    await learn({ text: "lorem ipsum" });
    await learning.exhaust();
    const { id } = (await turn()) ?? {};
    learning.double.behaviour = { facts: [GOOD] };
    expect(await learning.app.v1("POST", `/v1/turns/${id}/retry`)).toMatchObject({
      status: 200,
      body: { id, state: "closed", reason: null },
    });
    await learning.settle();
    expect(await turn()).toMatchObject({ state: "extracted" });
    const again = await learning.app.v1("POST", `/v1/turns/${id}/retry`);
    expect(again).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  });
});
