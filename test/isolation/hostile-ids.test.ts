import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { HOSTILE } from "./hostile-ids.ts";
import { rowsOf } from "./rows.ts";
import { callTool, rpc, v1 } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  let before: Record<string, string[]>;
  let key: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf });
    theirs = await seedOrg(app, "theirs");
    key = await app.createKey({ role: "owner" }, "ours");
    await app.ok("update_memory", { userId: "telegram:1", key: "k", value: "ours" }, key);
    before = await rowsOf(app.database.transactions, theirs.orgId);
  });
  afterAll(async () => {
    expect(await rowsOf(app.database.transactions, theirs.orgId)).toEqual(before);
    await app.dispose();
  });

  const codeOf = (text: string) => /"code\\?":\\?"(\w+)/.exec(text)?.[1];
  const TELLS = /of theirs|said in theirs/;

  test.each(HOSTILE)("the id %j finds nobody and nothing", async (id) => {
    const inPath = encodeURIComponent([...id].slice(0, 30).join(""));
    const asked = [
      callTool(app, key, "get_user_context", { userId: id }),
      callTool(app, key, "get_chat_history", { userId: id }),
      callTool(app, key, "recall", { userId: id, query: "plan" }),
      callTool(app, key, "recall", { storeId: id.slice(0, 63), query: "plan" }),
      callTool(app, key, "forget_memory", { userId: id, keys: ["colour"] }),
      callTool(app, key, "forget_fact", { factId: id.slice(0, 64), reason: "r" }),
      callTool(app, key, "remember_fact", {
        scope: "store",
        storeId: id.slice(0, 63),
        key: "k",
        value: 1,
      }),
      v1(app, key, "DELETE", `/v1/keys/${inPath}`),
      v1(app, key, "DELETE", `/v1/channels/telegram/${inPath}`),
      v1(app, key, "DELETE", `/v1/channels/${inPath}/${theirs.account}`),
      v1(app, key, "POST", "/v1/keys", { name: "k", pinStoreId: id.slice(0, 63) }),
      rpc(app, key, "resources/read", { uri: `memory://facts/${encodeURIComponent(id)}` }),
      rpc(app, key, "resources/read", {
        uri: `memory://users/${encodeURIComponent(id)}/context`,
      }),
    ];
    for (const { text } of await Promise.all(asked)) {
      expect(text).not.toMatch(TELLS);
      expect(text).toMatch(/NOT_FOUND|INVALID_INPUT|-3260[02]|"status":404/);
      expect(text).not.toMatch(/INTERNAL|-32603/);
    }
  });

  test("an id names a person of the asking org at most, whatever it is made of", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 330 }),
          fc.uuid(),
          fc.constantFrom(...HOSTILE),
        ),
        async (userId) => {
          const read = await callTool(app, key, "get_user_context", { userId });
          expect(["NOT_FOUND", "INVALID_INPUT"]).toContain(codeOf(read.text));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("text of that kind in a key of the map, in a search and in the list of keys is only text", async () => {
    const ours = "telegram:1";
    const keys = HOSTILE.filter((text) => text.length <= 256);
    const { count } = await app.ok("forget_memory", { userId: ours, keys }, key);
    expect(count).toBe(0);
    const context = await app.ok("get_user_context", { userId: ours, keys }, key);
    expect(context.memory).toEqual({});
    for (const query of HOSTILE) {
      const { text } = await callTool(app, key, "recall", { query, userId: ours });
      expect([query, text]).toEqual([query, expect.not.stringMatching(TELLS)]);
      expect([query, codeOf(text)]).toEqual([query, undefined]);
    }
    for (const keyPrefix of ["%", "_", "secret%", "secret.", ".*"]) {
      const { text } = await callTool(app, key, "recall", { keyPrefix });
      expect(text).not.toMatch(TELLS);
    }
  });
});
