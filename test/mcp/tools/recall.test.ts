import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { onBothDatabases } from "../../support/database.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("a model gets a block for its prompt, facts and messages", async () => {
    const userId = "telegram:1";
    await app.ok("archive_turn", {
      userId,
      channel: "web",
      userMessage: "I am allergic to peanuts",
      assistantMessage: "Noted, no peanuts.",
    });
    await app.ok("remember_fact", {
      scope: "user",
      userId,
      key: "food.allergies",
      value: "peanuts",
    });
    const answer = await app.ok("recall", { userId, query: "peanuts" });
    expect(answer).toMatchObject({
      stableBlock: "",
      facts: [{ key: "food.allergies" }],
      tokens: expect.any(Number),
    });
    expect((answer.messages as { text: string }[]).map(({ text }) => text).sort()).toEqual([
      "I am allergic to peanuts",
      "Noted, no peanuts.",
    ]);
    expect(answer.memoryBlock).toContain('- user food.allergies: "peanuts"');
    expect(await app.ok("recall", { userId, query: "peanuts" })).toMatchObject({
      etag: answer.etag,
    });
  });

  test("a message that ends with #noremember is never recalled", async () => {
    const userId = "telegram:2";
    await app.ok("archive_turn", {
      userId,
      channel: "web",
      userMessage: "my zebra is secret #noremember",
      assistantMessage: "ok, zebra",
    });
    expect((await app.ok("recall", { userId, query: "zebra" })).messages).toEqual([]);
  });

  test("one key of another org sees nothing of it", async () => {
    const { factId } = await app.ok("remember_fact", {
      scope: "org",
      key: "policy",
      value: "30 days",
    });
    const stranger = await app.createKey({ role: "owner" }, "other");
    expect(await app.ok("recall", {}, stranger)).toMatchObject({ facts: [], memoryBlock: "" });
    expect((await app.call("forget_fact", { factId, reason: "mine?" }, stranger)).error?.code).toBe(
      "NOT_FOUND",
    );
    expect((await app.call("recall", { userId: "telegram:1" }, stranger)).error?.code).toBe(
      "NOT_FOUND",
    );
  });

  test.each([
    [{ limit: 51 }, "limit"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["user"] }, "userId"],
    [{ keyPrefix: "Food" }, "keyPrefix"],
    [{ asOf: "2026-01-01" }, "asOf"],
    [{ query: "x".repeat(65_537) }, "query"],
  ])("%j is refused by name", async (args, named) => {
    const { error } = await app.call("recall", args);
    expect(error?.code).toBe("INVALID_INPUT");
    expect(error?.message).toContain(named);
  });
});
