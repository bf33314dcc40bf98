import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { onBothDatabases } from "../../support/database.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  const fact = { scope: "user", userId: "telegram:1", key: "food.allergies", value: "peanuts" };

  test("a model remembers a claim of any JSON value and recalls it unchanged", async () => {
    const value = { b: [1, "10.5", null], a: "x" };
    const answer = await app.ok("remember_fact", { ...fact, userId: "telegram:2", value });
    expect(answer).toEqual({
      factId: expect.any(String),
      outcome: "created",
      contradicts: [],
      score: 0.8,
    });
    const { facts } = await app.ok("recall", { userId: "telegram:2" });
    expect(JSON.stringify((facts as { value: unknown }[])[0]?.value)).toBe(JSON.stringify(value));
  });

  test("twenty calls at once with one source get one answer", async () => {
    const call = { ...fact, userId: "telegram:3", sourceMessageId: "mX" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.ok("remember_fact", call)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test.each([
    [{ key: "Food Allergies" }, "key"],
    [{ value: "x".repeat(5000) }, "4096"],
    [{ confidence: 0.3 }, "confidence"],
    [{ reasoning: "x".repeat(241) }, "reasoning"],
    [{ observedAt: "yesterday" }, "observedAt"],
    [{ sourceMessageId: "call:1" }, "sourceMessageId"],
    [{ scope: "org" }, "userId"],
    [{ scope: "org", userId: undefined, agentId: "b:c" }, "agentId"],
    [{ scopeId: "a:b" }, "scopeId"],
    [{ key: "watch.acme" }, "watch.<site>.<topic>"],
    [{ value: undefined }, "value"],
  ])("%j is refused, and the answer names the rule", async (over, named) => {
    const { error } = await app.call("remember_fact", { ...fact, ...over });
    expect(error?.code).toBe("INVALID_INPUT");
    expect(error?.message).toContain(named);
  });
});
