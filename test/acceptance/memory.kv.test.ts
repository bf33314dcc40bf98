import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
  });
  afterAll(() => app.dispose());

  const memoryOf = async (userId: string, key?: string) =>
    (await app.ok("get_user_context", { userId }, key)).memory as Record<string, unknown>;

  test("a new key is inserted and read back", async () => {
    const answer = await app.ok("update_memory", {
      userId: "telegram:1",
      key: "city",
      value: "Lyon",
    });
    expect(answer).toEqual({ key: "city", created: true, updatedAt: "2026-03-01T10:00:00.000Z" });
    expect(await memoryOf("telegram:1")).toEqual({ city: "Lyon" });
  });

  test("overwriting a key replaces the value and moves updatedAt forward, even within one millisecond", async () => {
    const write = (value: number) => app.ok("update_memory", { userId: "2", key: "n", value });
    expect(await write(1)).toMatchObject({ created: true });
    expect(await write(2)).toMatchObject({
      created: false,
      updatedAt: "2026-03-01T10:00:00.001Z",
    });
    expect(await memoryOf("2")).toEqual({ n: 2 });
  });

  test("any JSON value comes back verbatim: types, nesting, key order, null and odd keys", async () => {
    const values = {
      numberText: "10.5",
      trueText: "true",
      nullText: "null",
      objectText: '{"a":1}',
      nothing: null,
      nested: { z: { a: null, list: [1, "2", [], {}, false] }, a: 0.1, "": "empty key" },
      emoji: "👩‍👩‍👧 عربي \u202e ﷽",
      bigText: "2512292042121000001",
      exact: 9007199254740991,
    };
    for (const [key, value] of Object.entries(values)) {
      await app.ok("update_memory", { userId: "3", key, value });
    }
    const memory = await memoryOf("3");
    for (const [key, value] of Object.entries(values)) {
      expect(JSON.stringify(memory[key])).toBe(JSON.stringify(value));
    }
    expect("never written" in memory).toBe(false);
  });

  test("a value keeps its own __proto__ key and pollutes nothing", async () => {
    await app.callRaw(
      "update_memory",
      '{"userId":"4","key":"pp","value":{"__proto__":{"a":1},"b":2}}',
    );
    await app.callRaw("update_memory", '{"userId":"4","key":"__proto__","value":1}');
    const memory = await memoryOf("4");
    expect(JSON.stringify(memory.pp)).toBe('{"__proto__":{"a":1},"b":2}');
    expect(Object.keys(memory).sort()).toEqual(["__proto__", "pp"]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test.each([
    ["an integer beyond 2^53", '{"order":2512292042121000001}', /value\.order/],
    ["an overflowing number", "1e400", /value/],
    ["minus zero", "[-0]", /value/],
    ["U+0000", '"a\\u0000b"', /value/],
    ["half an emoji", '"x\\ud83d"', /value/],
    ["201 nested arrays", "[".repeat(201) + "]".repeat(201), /value|deep|depth/i],
  ])("%s is refused by name, and the next call works", async (_what, value, names) => {
    const refused = await app.callRaw("update_memory", `{"userId":"5","key":"k","value":${value}}`);
    expect(refused.error?.code).toBe("INVALID_INPUT");
    expect(refused.error?.message).toMatch(names);
    await app.ok("update_memory", { userId: "5", key: "after", value: "ok" });
    expect(await memoryOf("5")).toEqual({ after: "ok" });
  });

  test("a key has 1 to 256 characters of any script", async () => {
    const long = "é👍".repeat(128);
    await app.ok("update_memory", { userId: "6", key: long, value: 1 });
    expect(await memoryOf("6")).toEqual({ [long]: 1 });
    for (const key of ["", `${long}x`, "k".repeat(4000)]) {
      const { error } = await app.call("update_memory", { userId: "6", key, value: 1 });
      expect(error?.code).toBe("INVALID_INPUT");
    }
  });

  test("a value over 64 KiB, a 1,001st key and more than 1 MiB are over the limit, and nothing is stored", async () => {
    const code = async (tool: string, args: object) =>
      (await app.call(tool, { userId: "7", ...args })).error?.code;
    expect(await code("update_memory", { key: "big", value: "x".repeat(65_535) })).toBe(
      "LIMIT_EXCEEDED",
    );
    const batch = (from: number, value: unknown) =>
      Array.from({ length: 500 }, (_, i) => ({ key: `k${from + i}`, value }));
    await app.ok("store_memory", { userId: "7", entries: batch(0, 1) });
    await app.ok("store_memory", { userId: "7", entries: batch(500, 1) });
    expect(await code("update_memory", { key: "one more", value: 1 })).toBe("LIMIT_EXCEEDED");
    await app.ok("update_memory", { userId: "7", key: "k0", value: "still writable" });
    const heavy = batch(0, "x".repeat(2_400));
    expect(await code("store_memory", { entries: heavy })).toBe("LIMIT_EXCEEDED");
    expect(Object.keys(await memoryOf("7"))).toHaveLength(1000);
    expect((await memoryOf("7")).k0).toBe("still writable");
  });

  test("50 parallel writes of different keys keep all 50, and of one key keep one whole value", async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        app.ok("update_memory", { userId: "telegram:8", key: `k${i}`, value: i }),
      ),
    );
    expect(Object.keys(await memoryOf("8"))).toHaveLength(50);
    const value = (n: number) => ({ n, pad: "x".repeat(2000) });
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        app.ok("update_memory", { userId: "8", key: "race", value: value(n) }),
      ),
    );
    const race = (await memoryOf("8")).race as { n: number };
    expect(race).toEqual(value(race.n));
  });

  test("forgetting deletes the named keys of that person only", async () => {
    for (const userId of ["9", "10"]) {
      await app.ok("store_memory", {
        userId,
        entries: [
          { key: "a", value: 1 },
          { key: "b", value: 2 },
        ],
      });
    }
    expect(await app.ok("forget_memory", { userId: "9", keys: ["a", "none"] })).toEqual({
      count: 1,
    });
    expect(await memoryOf("9")).toEqual({ b: 2 });
    expect(await memoryOf("10")).toEqual({ a: 1, b: 2 });
  });

  test("people and orgs are isolated: the same id in another org is another person", async () => {
    const other = await app.createKey({ role: "owner" }, "other-org");
    await app.ok("update_memory", { userId: "11", key: "k", value: "ours" });
    await app.ok("update_memory", { userId: "12", key: "k", value: "somebody else's" });
    expect((await app.call("get_user_context", { userId: "11" }, other)).error?.code).toBe(
      "NOT_FOUND",
    );
    await app.ok("update_memory", { userId: "11", key: "k", value: "theirs" }, other);
    expect(await memoryOf("11")).toEqual({ k: "ours" });
    expect(await memoryOf("11", other)).toEqual({ k: "theirs" });
  });

  test("an internal id of another org, or of nobody, is NOT_FOUND on read and on write", async () => {
    const other = await app.createKey({}, "third-org");
    await app.ok("update_memory", { userId: "13", key: "k", value: 1 });
    const { user } = await app.ok("get_user_context", { userId: "13" });
    const { id } = user as { id: string };
    for (const userId of [id, "00000000-0000-4000-8000-000000000000"]) {
      for (const [tool, args] of [
        ["get_user_context", { userId }],
        ["get_chat_history", { userId }],
        ["update_memory", { userId, key: "k", value: 2 }],
        ["forget_memory", { userId, keys: ["k"] }],
      ] as const) {
        const answer = await app.call(tool, args, other);
        expect(answer.error?.code).toBe("NOT_FOUND");
      }
    }
    expect(await memoryOf(id)).toEqual({ k: 1 });
  });
});
