import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { users } from "../../src/db/schema/users.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { CAN_SEND } from "../support/telegram.ts";
import { operationsOf } from "./operations.ts";
import { rowsOf } from "./rows.ts";
import { callTool, resultOf, rpc, toolsOf, v1 } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

const PINNED = "telegram:100";
const OTHER = "telegram:200";

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  /** Facts outside of the pins below. */
  const others: Record<string, string> = {};
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf, env: CAN_SEND });
    org = await seedOrg(app, "acme");
    await app.v1("POST", "/v1/stores", { slug: "other-shop" }, "acme");
    const key = (input: object) => app.createKey({ name: "pinned", ...input }, "acme");
    keys.user = await key({ pinUserId: PINNED });
    keys.store = await key({ pinStoreId: "shop" });
    keys.agent = await key({ pinAgentId: "maya" });
    keys.all = await key({ pinUserId: PINNED, pinStoreId: "shop", pinAgentId: "maya" });
    const remember = async (fact: object) =>
      String(
        (await app.ok("remember_fact", { key: "k", value: 1, ...fact }, org.keys.member)).factId,
      );
    others.user = await remember({ scope: "user", userId: OTHER });
    others.store = await remember({ scope: "store", storeId: "other-shop" });
    others.agent = await remember({ scope: "user", userId: PINNED, agentId: "marco" });
    await app.ok(
      "update_memory",
      { userId: OTHER, key: "k", value: "of another person" },
      org.keys.member,
    );
    for (const pinned of Object.values(keys)) await toolsOf(app, pinned);
  });
  afterAll(() => app.dispose());

  const pinsOf = {
    user: ["userId"],
    store: ["storeId"],
    agent: ["agentId"],
    all: ["userId", "storeId", "agentId"],
  };
  const codeOf = (text: string) => /"code\\?":\\?"(\w+)/.exec(text)?.[1];

  describe.each(Object.entries(pinsOf))("a key pinned to %s", (pin, parameters) => {
    test("does not see the parameter in any schema, and sees all others", async () => {
      const free = await toolsOf(app, org.keys.member);
      const pinned = await toolsOf(app, keys[pin] ?? "");
      expect(pinned.map(({ name }) => name)).toEqual(free.map(({ name }) => name));
      for (const [at, { name, inputSchema }] of pinned.entries()) {
        const all = Object.keys(free[at]?.inputSchema.properties ?? {});
        const seen = Object.keys(inputSchema.properties);
        expect([name, seen]).toEqual([name, all.filter((one) => !parameters.includes(one))]);
        expect(JSON.stringify(inputSchema)).not.toMatch(new RegExp(`"(${parameters.join("|")})"`));
      }
    });

    test("is refused by name when it sends the parameter all the same, be it the pinned value", async () => {
      const before = await rowsOf(app.database.transactions, org.orgId);
      const values = {
        userId: [org.userId, PINNED, OTHER],
        storeId: [org.storeId, "shop"],
        agentId: ["maya", "atlas"],
      };
      for (const { name, inputSchema } of await toolsOf(app, org.keys.member)) {
        for (const parameter of parameters) {
          if (!(parameter in inputSchema.properties)) continue;
          for (const value of values[parameter as keyof typeof values]) {
            const { text } = await callTool(app, keys[pin] ?? "", name, { [parameter]: value });
            expect([name, codeOf(text)]).toEqual([name, "INVALID_INPUT"]);
            expect(text).toContain(`${parameter}: unknown argument`);
          }
        }
      }
      expect(await rowsOf(app.database.transactions, org.orgId)).toEqual(before);
    });

    test("cannot manage anything, whatever its role", async () => {
      const input = {
        user: { pinUserId: PINNED },
        store: { pinStoreId: "shop" },
        agent: { pinAgentId: "maya" },
        all: { pinUserId: PINNED, pinStoreId: "shop", pinAgentId: "maya" },
      }[pin];
      for (const role of ["admin", "owner"] as const) {
        const key = await app.createKey({ name: "pinned boss", role, ...input }, "acme");
        for (const operation of await operationsOf(app)) {
          const { method, url, operationId, "x-caller": least } = operation;
          if (!["admin", "owner", "operator"].includes(least)) continue;
          expect([operationId, (await v1(app, key, method, url, {})).status]).toEqual([
            operationId,
            403,
          ]);
        }
      }
    });
  });

  describe("a key pinned to a person", () => {
    test("reads and writes that person without naming them", async () => {
      await app.ok("update_memory", { key: "seen", value: "by the pin" }, keys.user);
      const context = await app.ok("get_user_context", {}, keys.user);
      expect(context).toMatchObject({ user: { id: org.userId }, memory: { seen: "by the pin" } });
      const { messages } = await app.ok("get_chat_history", {}, keys.user);
      expect(JSON.stringify(messages)).toContain("said in acme");
      const recalled = JSON.stringify(await app.ok("recall", { query: "k plan" }, keys.user));
      expect(recalled).toContain("plan of acme");
      expect(recalled).not.toContain(others.user);
    });

    test("writes facts of that person and of nothing else", async () => {
      const write = async (scope: string, extra: object = {}) =>
        (await app.call("remember_fact", { scope, key: "w", value: 1, ...extra }, keys.user)).error
          ?.code;
      expect(await write("user")).toBeUndefined();
      expect(await write("org")).toBe("FORBIDDEN");
      expect(await write("store", { storeId: "shop" })).toBe("FORBIDDEN");
    });

    test("is told of nobody else: neither by an address, a prompt nor a cursor", async () => {
      const { resourceTemplates } = await resultOf<{
        resourceTemplates: { uriTemplate: string }[];
      }>(app, keys.user ?? "", "resources/templates/list");
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        "memory://facts/{factId}",
      ]);
      const answers = [];
      for (const uri of [
        `memory://users/${OTHER}/context`,
        `memory://users/${org.userId}/context`,
      ]) {
        answers.push(await rpc(app, keys.user ?? "", "resources/read", { uri }));
      }
      for (const answer of answers) expect(answer.text).toContain('"error"');
      const prompt = { name: "load_memory", arguments: { userId: OTHER } };
      const prompted = await rpc(app, keys.user ?? "", "prompts/get", prompt);
      expect(prompted.text).not.toContain("of another person");
      expect(
        await resultOf(app, keys.user ?? "", "resources/read", { uri: "memory://context" }),
      ).toMatchObject({
        contents: [{ text: expect.stringContaining(org.userId) }],
      });
      const away = await app.ok(
        "archive_turn",
        { userId: OTHER, channel: "web", userMessage: "away", assistantMessage: "b" },
        org.keys.member,
      );
      expect(away).toBeDefined();
      const theirPage = await app.ok(
        "get_chat_history",
        { userId: OTHER, limit: 1 },
        org.keys.member,
      );
      const turned = await app.call(
        "get_chat_history",
        { before: theirPage.nextBefore },
        keys.user,
      );
      expect(turned.error?.code).toBe("INVALID_INPUT");
    });
  });

  test("a key pinned to a store writes that store's facts, and no other store's or the org's", async () => {
    const write = (scope: string) =>
      app.call("remember_fact", { scope, key: "w", value: 1 }, keys.store);
    const { value } = await write("store");
    const { text } = await rpc(app, org.keys.member, "resources/read", {
      uri: `memory://facts/${value?.factId}`,
    });
    expect(text).toContain(org.storeId);
    expect((await write("org")).error?.code).toBe("FORBIDDEN");
    const recalled = JSON.stringify(await app.ok("recall", {}, keys.store));
    expect(recalled).toContain("plan of acme");
    expect(recalled).not.toContain(others.store);
  });

  test("a key pinned to an agent writes into that agent's pocket, and reads it and the orchestrator's", async () => {
    const { factId } = await app.ok(
      "remember_fact",
      { scope: "user", userId: PINNED, key: "of.maya", value: "maya's" },
      keys.agent,
    );
    const { facts } = await app.ok("recall", { userId: PINNED }, keys.agent);
    const pockets = new Set((facts as { agentId: string }[]).map(({ agentId }) => agentId));
    expect([...pockets].sort()).toEqual(["atlas", "maya"]);
    expect(JSON.stringify(facts)).toContain(String(factId));
  });

  describe("what lies outside of a pin is NOT_FOUND, as if it were not there", () => {
    test.each(["user", "store", "agent"])(
      "a fact beyond a pinned %s, by address and by forgetting",
      async (pin) => {
        const factId = others[pin] ?? "";
        const key = await app.createKey(
          {
            role: "owner",
            ...{
              user: { pinUserId: PINNED },
              store: { pinStoreId: "shop" },
              agent: { pinAgentId: "maya" },
            }[pin],
          },
          "acme",
        );
        const nobodys = "01900000-0000-7000-8000-000000000000";
        const read = (id: string) =>
          rpc(app, key, "resources/read", { uri: `memory://facts/${id}` });
        const forget = (id: string) =>
          callTool(app, key, "forget_fact", { factId: id, reason: "no" });
        for (const ask of [read, forget]) {
          const foreign = await ask(factId);
          expect(foreign.text.replaceAll(factId, nobodys)).toBe((await ask(nobodys)).text);
          expect(codeOf(foreign.text)).toBe("NOT_FOUND");
        }
        const kept = await rpc(app, org.keys.member, "resources/read", {
          uri: `memory://facts/${factId}`,
        });
        expect(kept.text).toContain(factId);
      },
    );

    test("org facts are read by everybody, and forgotten by nobody who is pinned to less", async () => {
      for (const input of [{ pinUserId: PINNED }, { pinStoreId: "shop" }]) {
        const key = await app.createKey({ role: "owner", ...input }, "acme");
        const uri = `memory://facts/${org.facts.org}`;
        expect((await rpc(app, key, "resources/read", { uri })).text).toContain("plan of acme");
        const { error } = await app.call(
          "forget_fact",
          { factId: org.facts.org, reason: "no" },
          key,
        );
        expect(error?.code).toBe("NOT_FOUND");
      }
    });
  });

  test("a key whose person is deleted ends with them, rather than lose its pin", async () => {
    await app.ok("update_memory", { userId: "telegram:300", key: "k", value: 1 }, org.keys.member);
    const key = await app.createKey({ pinUserId: "telegram:300" }, "acme");
    const { user } = await app.ok("get_user_context", {}, key);
    await app.database.transactions.system("operator", (tx) =>
      tx.delete(users).where(eq(users.id, (user as { id: string }).id)),
    );
    expect((await rpc(app, key, "tools/list")).status).toBe(401);
  });
});
