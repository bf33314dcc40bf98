import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
  });
  afterAll(() => app.dispose());

  const store = (userId: string, entries: unknown) => app.call("store_memory", { userId, entries });
  const memoryOf = async (userId: string) =>
    (await app.ok("get_user_context", { userId })).memory as Record<string, unknown>;

  test("a batch is stored whole and counted", async () => {
    const entries = Array.from({ length: 500 }, (_, i) => ({ key: `k${i}`, value: { i } }));
    const { value } = await store("1", entries);
    expect(value).toEqual({ count: 500, updatedAt: "2026-03-01T10:00:00.000Z" });
    expect(await memoryOf("1")).toEqual(Object.fromEntries(entries.map((e) => [e.key, e.value])));
  });

  test("an empty batch and one of 501 are INVALID_INPUT", async () => {
    const tooMany = Array.from({ length: 501 }, (_, i) => ({ key: `k${i}`, value: 1 }));
    for (const entries of [[], tooMany]) {
      expect((await store("2", entries)).error?.code).toBe("INVALID_INPUT");
    }
  });

  test.each([
    [
      "a key that is too long",
      { key: "k".repeat(257), value: 1 },
      "INVALID_INPUT",
      /entries.*1.*key/,
    ],
    [
      "a value that is too large",
      { key: "huge", value: "x".repeat(70_000) },
      "LIMIT_EXCEEDED",
      /"huge"/,
    ],
    ["a repeated key", { key: "good", value: 2 }, "INVALID_INPUT", /"good"/],
    ["a missing value", { key: "bare" }, "INVALID_INPUT", /entries.*1.*value/],
  ])("%s rolls the whole batch back and is named", async (_what, bad, code, names) => {
    const answer = await store("3", [{ key: "good", value: 1 }, bad, { key: "too", value: 1 }]);
    expect(answer.error?.code).toBe(code);
    expect(answer.error?.message).toMatch(names);
    expect((await app.call("get_user_context", { userId: "3" })).error?.code).toBe("NOT_FOUND");
  });

  test("entries that a client sent as JSON text are read once; a value never is", async () => {
    const { value } = await store("4", '[{"key":"q","value":1},{"key":"s","value":"[1]"}]');
    expect(value).toMatchObject({ count: 2 });
    expect(await memoryOf("4")).toEqual({ q: 1, s: "[1]" });
  });

  test("a batch over existing keys replaces them and moves their time forward", async () => {
    await store("5", [{ key: "a", value: 1 }]);
    const { value } = await store("5", [
      { key: "a", value: 2 },
      { key: "b", value: 3 },
    ]);
    expect(value).toEqual({ count: 2, updatedAt: "2026-03-01T10:00:00.001Z" });
    expect(await memoryOf("5")).toEqual({ a: 2, b: 3 });
  });
});
