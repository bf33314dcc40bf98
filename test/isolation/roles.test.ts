import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forwardDeliveries } from "../../src/db/schema/forwarding.ts";
import { jobs } from "../../src/db/schema/jobs.ts";
import { turns } from "../../src/db/schema/turns.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { factImport, messageImport } from "./imports.ts";
import { rowsOf } from "./rows.ts";
import { callTool, toolsOf, v1, v1RoutesOf } from "./rpc.ts";
import { NOON, type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

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

type Request = readonly ["GET" | "POST" | "PUT" | "PATCH" | "DELETE", string, object?];
type PrepareRequest = (app: TestApp, org: SeededOrg, unique: string) => Promise<Request> | Request;

const aKeyToRevoke: PrepareRequest = async (app, org, unique) => {
  const { body } = await app.v1("POST", "/v1/keys", { name: unique }, org.slug);
  return ["DELETE", `/v1/keys/${(body.info as { id: string }).id}`];
};
const account = (unique: string) => ({ channel: "telegram", account: unique, secretVariable: "S" });
const anAccountToRemove: PrepareRequest = async (app, org, unique) => {
  await app.v1("POST", "/v1/channels", account(unique), org.slug);
  return ["DELETE", `/v1/channels/telegram/${unique}`];
};

const aDeadJob: PrepareRequest = async (app, org, unique) => {
  const id = v7();
  const job = { id, orgId: org.orgId, kind: "test", dedupeKey: unique, payload: "{}" };
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(jobs).values({ ...job, state: "dead", runAt: NOON, createdAt: NOON }),
  );
  return ["POST", `/v1/jobs/${id}/replay`];
};

const aDeadDelivery: PrepareRequest = async (app, org) => {
  const id = v7();
  const delivery = { ...org.channels.delivery, id, position: 2 };
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(forwardDeliveries).values(delivery),
  );
  return ["POST", `/v1/deliveries/${id}/replay`];
};

const aDeadCorrection =
  (method: "POST" | "DELETE", pathOf: (id: string) => string): PrepareRequest =>
  async (app, org, unique) => {
    const id = v7();
    const place = { channel: "web", account: "", conversationId: unique, agentId: "atlas" };
    const dead = { state: "dead", isCorrection: true, arm: "on" } as const;
    const times = { openedAt: NOON, lastMessageAt: NOON };
    const { orgId, userId } = org;
    await app.database.transactions.system("operator", (tx) =>
      tx.insert(turns).values({ id, orgId, userId, ...place, ...dead, ...times }),
    );
    return [method, pathOf(id)];
  };

const aLink: PrepareRequest = async (app, org, unique) => {
  const { userId } = await aPerson(app, org, unique);
  return ["POST", `/v1/users/telegram:100/links`, { with: userId, reason: "a test" }];
};
const aLinkToUndo: PrepareRequest = async (app, org, unique) => {
  const { body } = await app.v1(...(await aLink(app, org, unique)), org.slug);
  return ["POST", `/v1/links/${body.id}/undo`, {}];
};
const ofAPerson =
  (url: string, what: object): PrepareRequest =>
  async (app, org, n) => ["POST", url, { ...what, confirm: n, ...(await aPerson(app, org, n)) }];
const postedAs = (id: string) => ({
  ...{ channel: "web", id, externalUserId: "visitor", direction: "inbound", text: "hello" },
  sentAt: NOON.toISOString(),
});

const ROUTES: Readonly<Record<string, readonly [least: Caller, request: PrepareRequest]>> = {
  "GET /v1/erasures": ["owner", () => ["GET", "/v1/erasures"]],
  "POST /v1/erasures": ["owner", ofAPerson("/v1/erasures", { kind: "user" })],
  "GET /v1/erasures/:id": ["owner", (_, org) => ["GET", `/v1/erasures/${org.page.erasure.id}`]],
  "POST /v1/erasures/verify": [
    "owner",
    (_, org) => ["POST", "/v1/erasures/verify", { id: org.page.erasure.id }],
  ],
  "POST /v1/erasures/run": ["owner", () => ["POST", "/v1/erasures/run"]],
  "POST /v1/resets": ["owner", ofAPerson("/v1/resets", { scope: "user" })],
  "GET /v1/keys": ["admin", () => ["GET", "/v1/keys"]],
  "POST /v1/keys": ["admin", (_, __, n) => ["POST", "/v1/keys", { name: n }]],
  "DELETE /v1/keys/:id": ["admin", aKeyToRevoke],
  "GET /v1/orgs": ["operator", () => ["GET", "/v1/orgs"]],
  "POST /v1/orgs": ["operator", (_, __, n) => ["POST", "/v1/orgs", { slug: n }]],
  "GET /v1/stores": ["admin", () => ["GET", "/v1/stores"]],
  "POST /v1/stores": ["admin", (_, __, n) => ["POST", "/v1/stores", { slug: n }]],
  "GET /v1/channels": ["admin", () => ["GET", "/v1/channels"]],
  "POST /v1/channels": ["operator", (_, __, n) => ["POST", "/v1/channels", account(n)]],
  "DELETE /v1/channels/:channel/:account": ["admin", anAccountToRemove],
  "GET /v1/deliveries": ["admin", () => ["GET", "/v1/deliveries"]],
  "POST /v1/deliveries/replay": ["admin", () => ["POST", "/v1/deliveries/replay"]],
  "POST /v1/deliveries/:id/replay": ["admin", aDeadDelivery],
  "POST /v1/messages": ["member", (_, __, n) => ["POST", "/v1/messages", postedAs(n)]],
  "GET /v1/jobs": ["admin", () => ["GET", "/v1/jobs?state=dead"]],
  "GET /v1/jobs/runs": ["admin", () => ["GET", "/v1/jobs/runs?kind=x"]],
  "POST /v1/jobs/:id/replay": ["admin", aDeadJob],
  "GET /v1/memory": ["admin", () => ["GET", "/v1/memory"]],
  "PATCH /v1/memory": ["admin", () => ["PATCH", "/v1/memory", { offShare: 0 }]],
  "GET /v1/turns": ["admin", () => ["GET", "/v1/turns?state=closed"]],
  "GET /v1/turns/usage": ["admin", () => ["GET", "/v1/turns/usage"]],
  "POST /v1/turns/:id/retry": ["admin", aDeadCorrection("POST", (id) => `/v1/turns/${id}/retry`)],
  "GET /v1/corrections": ["admin", () => ["GET", "/v1/corrections"]],
  "DELETE /v1/corrections/:id": [
    "admin",
    aDeadCorrection("DELETE", (id) => `/v1/corrections/${id}`),
  ],
  "GET /v1/ab": ["admin", () => ["GET", "/v1/ab"]],
  "GET /v1/users": ["admin", () => ["GET", "/v1/users?status=approved"]],
  "PUT /v1/users/:userId/status": [
    "admin",
    () => ["PUT", "/v1/users/telegram:100/status", { status: "approved", reason: "a test" }],
  ],
  "POST /v1/users/:userId/links": ["admin", aLink],
  "GET /v1/links": ["admin", () => ["GET", "/v1/links"]],
  "POST /v1/links/:id/undo": ["admin", aLinkToUndo],
  "GET /v1/audit": ["admin", () => ["GET", "/v1/audit"]],
  "POST /v1/imports/souvenir": ["owner", () => ["POST", "/v1/imports/souvenir", { lines: [] }]],
  "GET /v1/export": ["admin", () => ["GET", "/v1/export?org=1"]],
  "POST /v1/imports/messages": [
    "admin",
    (_, __, n) => ["POST", "/v1/imports/messages", messageImport(n)],
  ],
  "POST /v1/imports/facts": ["admin", (_, __, n) => ["POST", "/v1/imports/facts", factImport(n)]],
  "POST /v1/consolidate": ["owner", () => ["POST", "/v1/consolidate"]],
};

/** Routes that take a signature instead of a key; without their secret there is nothing at the address. */
const SIGNED = ["POST /v1/links/assertions"];
/** Routes for anybody: what they answer is the same for everybody. */
const PUBLIC = ["GET /v1/export.schema.json"];

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  let unique = 0;
  beforeAll(async () => {
    // Nothing of it is called: no job runs here.
    const env = { ANTHROPIC_API_KEY: "sk-of-a-test", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const clock = new TestClock().now;
    app = await openApp(engine, { clock, secretOf, env, background: false });
    org = await seedOrg(app, "acme");
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
    const keyed = v1RoutesOf(app).filter((route) => ![...SIGNED, ...PUBLIC].includes(route));
    expect(keyed).toEqual(Object.keys(ROUTES).sort());
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

  test.each(Object.entries(ROUTES))("%s", async (_route, [least, prepare]) => {
    for (const caller of CALLERS) {
      const [method, url, payload] = await prepare(app, org, next());
      const before = await rowsOf(app.database.transactions, org.orgId);
      const headers = headersOf(caller);
      const answer = await app.http.inject({ method, url, headers, ...(payload && { payload }) });
      if (mayDo(caller, least)) {
        expect(answer.statusCode, caller).toBeLessThan(300);
        continue;
      }
      const isKnown = mayDo(caller, "member");
      expect(answer.statusCode, caller).toBe(isKnown ? 403 : 401);
      expect(answer.json()).toMatchObject({ title: "FORBIDDEN" });
      expect(answer.headers["www-authenticate"]).toBe(
        isKnown ? undefined : 'Bearer realm="souvenir"',
      );
      expect(await rowsOf(app.database.transactions, org.orgId)).toEqual(before);
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
