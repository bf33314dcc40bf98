import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now });
  });
  afterAll(() => app.dispose());

  test("profile, memory and recent messages come in one bundle", async () => {
    await app.telegram(privateMessage(201, { message_id: 1, text: "hello" }));
    await app.ok("update_memory", { userId: "201", key: "tone", value: { warm: true } });
    const context = await app.ok("get_user_context", { userId: "telegram:201" });
    expect(context).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        username: "ana201",
        firstName: "Ana",
        status: "pending",
        role: "customer",
        createdAt: "2026-03-01T10:00:00.000Z",
        approvedAt: null,
        identities: [{ channel: "telegram", externalId: "201" }],
      },
      memory: { tone: { warm: true } },
      recentMessages: [
        {
          id: expect.any(String),
          direction: "inbound",
          kind: "text",
          text: "hello",
          sentAt: "2026-03-01T10:00:00.000Z",
          channel: "telegram",
          edited: false,
        },
      ],
    });
    const { id } = context.user as { id: string };
    expect(await app.ok("get_user_context", { userId: id })).toEqual(context);
  });

  test("a new person has an empty memory and no messages; an unknown one is NOT_FOUND", async () => {
    await app.ok("update_memory", { userId: "202", key: "k", value: 1 });
    await app.ok("forget_memory", { userId: "202", keys: ["k"] });
    expect(await app.ok("get_user_context", { userId: "202" })).toMatchObject({
      user: { status: "approved", approvedAt: "2026-03-01T10:00:00.000Z", username: null },
      memory: {},
      recentMessages: [],
    });
    expect((await app.call("get_user_context", { userId: "nobody" })).error?.code).toBe(
      "NOT_FOUND",
    );
  });

  test("the newest 20 messages by default, as many as asked for otherwise, oldest first", async () => {
    for (let i = 1; i <= 25; i++) {
      await app.telegram(
        privateMessage(203, { message_id: i, text: `m${i}`, date: 1772359200 + i }),
      );
    }
    const recent = async (args: object) => {
      const context = await app.ok("get_user_context", { userId: "203", ...args });
      return (context.recentMessages as { text: string }[]).map((message) => message.text);
    };
    const names = (from: number) => Array.from({ length: 26 - from }, (_, i) => `m${from + i}`);
    expect(await recent({})).toEqual(names(6));
    expect(await recent({ recentLimit: 2 })).toEqual(names(24));
    expect(await recent({ recentLimit: 0 })).toEqual([]);
    expect(await recent({ recentLimit: 9999 })).toEqual(names(1));
  });

  test("keys limits the memory to those keys", async () => {
    await app.ok("store_memory", {
      userId: "204",
      entries: [
        { key: "a", value: 1 },
        { key: "b", value: null },
        { key: "c", value: 3 },
      ],
    });
    const { memory } = await app.ok("get_user_context", { userId: "204", keys: ["b", "c", "z"] });
    expect(memory).toEqual({ b: null, c: 3 });
  });

  test("a userId may be a JSON integer, but never one that JavaScript cannot hold", async () => {
    await app.ok("update_memory", { userId: 7999999999, key: "k", value: 1 });
    const { user } = await app.ok("get_user_context", { userId: "7999999999" });
    expect(user).toMatchObject({ identities: [{ channel: "telegram", externalId: "7999999999" }] });
    const refused = await app.callRaw("get_user_context", '{"userId":9007199254740993}');
    expect(refused.error?.code).toBe("INVALID_INPUT");
    const exact = await app.call("get_user_context", { userId: "9007199254740993" });
    expect(exact.error?.code).toBe("NOT_FOUND");
  });

  test("an id that joins differently is another person", async () => {
    await app.ok("update_memory", { userId: "web:a:b", key: "k", value: "one" });
    await app.ok("update_memory", { userId: "web:a", key: "k", value: "two" });
    await app.ok("update_memory", { userId: "web:a-b", key: "k", value: "three" });
    for (const [userId, k] of [
      ["web:a:b", "one"],
      ["web:a", "two"],
      ["web:a-b", "three"],
    ]) {
      expect((await app.ok("get_user_context", { userId })).memory).toEqual({ k });
    }
  });
});
