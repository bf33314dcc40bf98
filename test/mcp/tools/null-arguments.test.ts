import { afterAll, beforeAll, expect, test } from "vitest";
import { oneEngine } from "../../access/one-engine.ts";
import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await openApp(oneEngine());
});
afterAll(() => app.dispose());

const userId = "telegram:5000000001";

test("every tool takes null for what it does not need", async () => {
  const fact = { scope: "user", userId, key: "diet", value: null };
  const turn = { userId, channel: "web", userMessage: "u", assistantMessage: "a" };
  const needed: Record<string, Record<string, unknown>> = {
    archive_turn: { ...turn, feedback: { thumb: null, regenerated: null } },
    get_user_context: { userId },
    recall: { userId },
    remember_fact: fact,
    update_memory: { userId, key: "k", value: null },
    store_memory: { userId, entries: [{ key: "l", value: { a: null } }] },
    forget_memory: { userId, keys: ["none"] },
    get_chat_history: { userId },
    link_identity: { userId },
    set_user_status: { userId, status: "approved", reason: "known" },
  };
  const { json } = await app.http
    .inject({
      method: "POST",
      url: "/mcp",
      headers: { authorization: `Bearer ${OWNER_KEY}`, host: "localhost" },
      payload: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    })
    .then((response) => ({ json: response.json() }));
  const tools: { name: string; inputSchema: { properties: object } }[] = json.result.tools;
  const schemaOf = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema;
  for (const [tool, args] of Object.entries(needed)) {
    const properties = Object.keys(schemaOf(tool)?.properties ?? {});
    const nulls = Object.fromEntries(properties.map((name) => [name, null]));
    const { error } = await app.call(tool, { ...nulls, ...args });
    expect(error, tool).toBeUndefined();
  }
  const known = new Set([...Object.keys(needed), "forget_fact"]);
  expect(tools.filter(({ name }) => !known.has(name))).toEqual([]);

  const { memory } = await app.ok("get_user_context", { userId });
  expect(memory).toEqual({ k: null, l: { a: null } });
  const { facts } = await app.ok("recall", { userId });
  expect(facts).toMatchObject([{ key: "diet", value: null }]);
});

test("null for what a tool needs is refused by its name", async () => {
  for (const [tool, args] of [
    ["get_chat_history", { userId: null }],
    ["forget_memory", { userId, keys: null }],
  ] as const) {
    const { error } = await app.call(tool, args);
    expect(error?.code).toBe("INVALID_INPUT");
    expect(error?.message).toMatch(/^(userId|keys): /);
  }
});
