import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { factImport, messageImport } from "../isolation/imports.ts";
import { v1 } from "../isolation/rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "../isolation/seeded-org.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

type Request = readonly ["POST" | "PUT" | "PATCH" | "DELETE", string, object?];

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  beforeAll(async () => {
    const env = { ANTHROPIC_API_KEY: "sk-of-a-test", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const clock = new TestClock().now;
    app = await openApp(engine, { clock, secretOf, env, background: false });
    org = await seedOrg(app, "acme");
  });
  afterAll(() => app.dispose());

  const events = async () => {
    const { body } = await app.v1("GET", "/v1/audit?limit=200", undefined, "acme");
    return (body as { events: { id: string; actor: string; action: string }[] }).events;
  };
  const idsOf = async () => new Set((await events()).map(({ id }) => id));
  /** What a request by the owner's key put into the trail. */
  const noted = async ([method, path, body]: Request) => {
    const before = await idsOf();
    const { status } = await v1(app, org.keys.owner, method, path, body);
    const after = (await events()).filter(({ id }) => !before.has(id));
    return { status, events: after.map(({ actor, action }) => [actor, action]) };
  };
  const system = (statement: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute(statement));

  test("whatever somebody does to an org is in its trail once, with the key that did it", async () => {
    const { body } = await app.v1("GET", "/v1/keys", undefined, "acme");
    const keys = (body as { keys: { id: string; name: string }[] }).keys;
    const actor = keys.find(({ name }) => name === "owner of acme")?.id;
    const member = keys.find(({ name }) => name === "member of acme")?.id;
    const kill = async (table: "turns" | "forward_deliveries" | "jobs") =>
      system(sql`update ${sql.raw(table)} set state = 'dead' where org_id = ${org.orgId}`);
    const person = `/v1/users/${org.userId}`;
    const deeds: readonly (readonly [action: string, request: Request])[] = [
      ["key.created", ["POST", "/v1/keys", { name: "k" }]],
      ["key.revoked", ["DELETE", `/v1/keys/${member}`]],
      ["store.created", ["POST", "/v1/stores", { slug: "new" }]],
      ["channel.removed", ["DELETE", `/v1/channels/telegram/${org.account}`]],
      ["org.memory_changed", ["PATCH", "/v1/memory", { offShare: 0.5 }]],
      ["user.blocked", ["PUT", `${person}/status`, { status: "blocked", reason: "a test" }]],
      ["import.messages", ["POST", "/v1/imports/messages", messageImport("1")]],
      ["import.facts", ["POST", "/v1/imports/facts", factImport("1")]],
      ["turn.retried", ["POST", `/v1/turns/${org.turn.id}/retry`]],
      ["delivery.replayed", ["POST", `/v1/deliveries/${org.channels.delivery.id}/replay`]],
      ["job.replayed", ["POST", `/v1/jobs/${org.claimed.id}/replay`]],
      ["job.started", ["POST", "/v1/consolidate"]],
    ];
    await kill("turns");
    await kill("jobs");
    for (const [action, request] of deeds) {
      const { status, events } = await noted(request);
      expect([request, status < 300, events]).toEqual([request, true, [[actor, action]]]);
    }
    await kill("forward_deliveries");
    expect((await noted(["POST", "/v1/deliveries/replay"])).events).toEqual([
      [actor, "delivery.replayed_all"],
    ]);
  });

  test("what changed nothing is not in it", async () => {
    const again: readonly Request[] = [
      ["PATCH", "/v1/memory", { offShare: 0.5 }],
      ["PATCH", "/v1/memory", {}],
      ["POST", "/v1/stores", { slug: "new" }],
      ["POST", "/v1/imports/messages", messageImport("1")],
      ["POST", "/v1/imports/messages", { ...messageImport("2"), dryRun: true }],
      ["POST", "/v1/imports/facts", factImport("1")],
      ["POST", "/v1/deliveries/replay"],
    ];
    for (const request of again)
      expect([request, (await noted(request)).events]).toEqual([request, []]);
  });

  test("a new org's trail begins with its making, by the command line", async () => {
    await app.v1("POST", "/v1/orgs", { slug: "newest" });
    const { body } = await app.v1("GET", "/v1/audit", undefined, "newest");
    expect(body.events).toMatchObject([{ actor: "operator", action: "org.created" }]);
  });
});
