import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { answerFaults } from "./answers.ts";
import { type DescribedOperation, openApiOf, operationsOf } from "./operations.ts";
import { type Parts, REQUESTS, requestOf } from "./requests.ts";
import { rowsOf } from "./rows.ts";
import { callTool, toolsOf, v1, v1RoutesOf } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

/** From nobody to the server's own command line; each may do all that the ones before may. */
const CALLERS = ["nobody", "stranger", "member", "admin", "owner", "operator"] as const;
type Caller = (typeof CALLERS)[number];
const mayDo = (caller: Caller, least: Caller) => CALLERS.indexOf(caller) >= CALLERS.indexOf(least);

type Prepare = (app: TestApp, org: SeededOrg, unique: string) => Promise<object> | object;

const aFact = async (app: TestApp, org: SeededOrg, unique: string, scope: string, of: object) => {
  const fact = { scope, key: `role.${unique}`, value: 1, ...of };
  const { factId } = await app.ok("remember_fact", fact, org.keys.member);
  return { factId, reason: "a test of roles" };
};
const aPerson = async (app: TestApp, org: SeededOrg, unique: string) => {
  const userId = `telegram:${unique}`;
  await app.ok("update_memory", { userId, key: "k", value: 1 }, org.keys.member);
  return { userId };
};
const USER = { userId: "telegram:100" };
const SHOP = { storeId: "shop" };

/** What each tool needs a key for; more than one line where it depends on what is asked. */
const TOOLS: Readonly<Record<string, readonly (readonly [least: Caller, args: Prepare])[]>> = {
  get_user_context: [["member", () => USER]],
  recall: [["member", () => ({ ...USER, ...SHOP })]],
  remember_fact: [
    ["member", (_, __, n) => ({ scope: "org", key: `m.${n}`, value: 1 })],
    ["member", (_, __, n) => ({ scope: "store", ...SHOP, key: `m.${n}`, value: 1 })],
    ["member", (_, __, n) => ({ scope: "user", ...USER, key: `m.${n}`, value: 1 })],
  ],
  forget_fact: [
    ["admin", (app, org, n) => aFact(app, org, n, "org", {})],
    ["admin", (app, org, n) => aFact(app, org, n, "store", SHOP)],
    ["member", (app, org, n) => aFact(app, org, n, "user", USER)],
  ],
  update_memory: [["member", () => ({ ...USER, key: "k", value: 1 })]],
  store_memory: [["member", () => ({ ...USER, entries: [{ key: "k", value: 1 }] })]],
  forget_memory: [["member", () => ({ ...USER, keys: ["k"] })]],
  get_chat_history: [["member", () => USER]],
  link_identity: [["admin", (app, org, n) => aPerson(app, org, n)]],
  set_user_status: [["admin", () => ({ ...USER, status: "approved", reason: "a test" })]],
  archive_turn: [
    ["member", () => ({ ...USER, channel: "web", userMessage: "a", assistantMessage: "b" })],
  ],
};

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  let operations: DescribedOperation[];
  let faultsOf: ReturnType<typeof answerFaults>;
  let unique = 0;
  beforeAll(async () => {
    // Nothing of it is called: no job runs here.
    const env = { ANTHROPIC_API_KEY: "sk-of-a-test", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const clock = new TestClock().now;
    app = await openApp(engine, { clock, secretOf, env, background: false });
    org = await seedOrg(app, "acme");
    operations = await operationsOf(app);
    faultsOf = answerFaults(await openApiOf(app));
    // Notes each key's first use, which is a change of its row too.
    for (const key of Object.values(org.keys)) await toolsOf(app, key);
  });
  afterAll(() => app.dispose());

  const next = () => `n${++unique}`;
  const keyOf = (caller: Caller): string | undefined => {
    if (caller === "nobody") return undefined;
    if (caller === "stranger") return "svr_nobody-has-this-key-0123456789";
    return caller === "operator" ? app.operatorToken : org.keys[caller];
  };
  const headersOf = (caller: Caller) => {
    const key = keyOf(caller);
    return {
      host: "localhost",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(caller === "operator" && { "x-souvenir-org": org.slug }),
    };
  };

  test("every tool and every route of the server is in the matrix", async () => {
    const tools = (await toolsOf(app, org.keys.owner)).map(({ name }) => name);
    expect(tools.sort()).toEqual(Object.keys(TOOLS).sort());
    const described = operations.map(({ method, url }) => `${method} ${url}`);
    expect(described.sort()).toEqual(v1RoutesOf(app));
    const keyed = operations.filter((one) => !["anybody", "signer"].includes(one["x-caller"]));
    expect(keyed.map(({ operationId }) => operationId).sort()).toEqual(
      Object.keys(REQUESTS).sort(),
    );
  });

  const calls = Object.entries(TOOLS).flatMap(([tool, lines]) =>
    lines.map(([least, args], line) => [tool, least, line, args] as const),
  );
  test.each(calls)(
    "%s needs a key of the role %s or above (line %i)",
    async (tool, least, _line, prepare) => {
      for (const role of ["member", "admin", "owner"] as const) {
        const args = await prepare(app, org, next());
        const { text } = await callTool(app, org.keys[role], tool, args);
        const code = /"code\\?":\\?"([A-Z_]+)\\?"/.exec(text)?.[1];
        expect([role, code]).toEqual([role, mayDo(role, least) ? undefined : "FORBIDDEN"]);
      }
    },
  );

  test.each(Object.entries(REQUESTS))(
    "%s asks for the role that it says, and answers as it says",
    async (id, prepare) => {
      const operation = operations.find(({ operationId }) => operationId === id);
      if (!operation) throw new Error(`no route has the operation ${id}`);
      const least = operation["x-caller"] as Caller;
      const send = async (caller: Caller, parts: Parts) => {
        const [method, url, payload] = requestOf(operation, parts);
        const headers = headersOf(caller);
        return app.http.inject({ method, url, headers, ...(payload && { payload }) });
      };
      const refused = await prepare(app, org, next());
      const before = await rowsOf(app.database.transactions, org.orgId);
      for (const caller of CALLERS.filter((one) => !mayDo(one, least))) {
        const answer = await send(caller, refused);
        const isKnown = mayDo(caller, "member");
        expect(answer.statusCode, caller).toBe(isKnown ? 403 : 401);
        expect(answer.json()).toMatchObject({ code: "FORBIDDEN" });
        expect(answer.headers["www-authenticate"]).toBe(
          isKnown ? undefined : 'Bearer realm="souvenir"',
        );
      }
      expect(await rowsOf(app.database.transactions, org.orgId)).toEqual(before);
      for (const caller of CALLERS.filter((one) => mayDo(one, least))) {
        const answer = await send(caller, await prepare(app, org, next()));
        // Nothing can be sent here: test/http/v1/tools.test.ts does.
        if (id === "sendMessage") expect(answer.statusCode).toBe(409);
        else expect(faultsOf(operation, answer.statusCode, answer.body), caller).toBeUndefined();
      }
    },
  );

  test("a body is not looked at before the role is", async () => {
    for (const { method, url, "x-caller": least, operationId } of operations) {
      if (!["admin", "owner", "operator"].includes(least)) continue;
      const answer = await v1(app, org.keys.member, method, url, { nonsense: true });
      expect([operationId, answer.status]).toEqual([operationId, 403]);
    }
  });

  test.each(["nobody", "stranger"] as const)("%s gets nothing from /mcp", async (caller) => {
    const answer = await app.http.inject({
      method: "POST",
      url: "/mcp",
      headers: { ...headersOf(caller), "content-type": "application/json" },
      payload: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="souvenir"');
    expect(answer.body).not.toContain("tools");
  });

  describe("nobody climbs", () => {
    test("an admin makes members and admins, and no owner", async () => {
      for (const [role, status] of [
        ["member", 201],
        ["admin", 201],
        ["owner", 403],
      ] as const) {
        const answer = await v1(app, org.keys.admin, "POST", "/v1/keys", { name: "k", role });
        expect([role, answer.status]).toEqual([role, status]);
      }
    });

    test("an admin cannot end an owner's key, which goes on working", async () => {
      const { key, info } = (
        await app.v1("POST", "/v1/keys", { name: "boss", role: "owner" }, org.slug)
      ).body as { key: string; info: { id: string } };
      const refused = await v1(app, org.keys.admin, "DELETE", `/v1/keys/${info.id}`);
      expect(refused.status).toBe(403);
      expect((await v1(app, key, "GET", "/v1/keys")).status).toBe(200);
      expect((await v1(app, org.keys.owner, "DELETE", `/v1/keys/${info.id}`)).status).toBe(200);
      expect((await v1(app, key, "GET", "/v1/keys")).status).toBe(401);
    });

    test("a role that there is not, or a field that is not asked for, makes no key", async () => {
      for (const extra of [{ role: "operator" }, { orgId: org.orgId }, { id: org.key.id }]) {
        const body = { name: "k", ...extra };
        expect((await v1(app, org.keys.owner, "POST", "/v1/keys", body)).status).toBe(400);
      }
    });
  });
});
