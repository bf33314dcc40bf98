import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { CAN_SEND } from "../support/telegram.ts";
import {
  ENTRY,
  type Ids,
  idsOf,
  MINE,
  NO_IDS,
  RESOURCES,
  ROUTES,
  TOOLS,
  unknownIds,
} from "./id-parameters.ts";
import { rowsOf } from "./rows.ts";
import { callTool, resultOf, rpc, toolsOf, v1, v1RoutesOf, type WireAnswer } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  let owner: string;
  const answers: string[] = [];
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf, env: CAN_SEND });
    theirs = await seedOrg(app, "theirs");
    await app.v1("POST", "/v1/stores", { slug: "shop-of-theirs" }, "theirs");
    owner = await app.createKey({ role: "owner" }, "ours");
    await app.ok("update_memory", { userId: MINE, ...ENTRY }, owner);
  });
  afterAll(() => app.dispose());

  /** The two answers, without the ids that each was asked for and the ids of rows that it made. */
  const bothAnswers = async (ask: (ids: Ids) => Promise<WireAnswer>) => {
    const compared: WireAnswer[] = [];
    for (const ids of [idsOf(theirs), unknownIds()]) {
      const answer = await ask(ids);
      answers.push(answer.text);
      let { text } = answer;
      for (const id of Object.values(ids)) {
        text = text.replaceAll(encodeURIComponent(id), "<id>").replaceAll(id, "<id>");
      }
      text = text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>");
      compared.push({ status: answer.status, text });
    }
    return compared;
  };

  test("every tool, resource and route of the server that takes an id is tried here", async () => {
    const takesIds = (await toolsOf(app, owner)).map(({ name, inputSchema }) => {
      const parameters = Object.keys(inputSchema.properties).filter(
        (parameter) =>
          /Id$|^before$/.test(parameter) &&
          ![parameter, `${name} ${parameter}`].some((one) => NO_IDS.includes(one)),
      );
      return [name, parameters.sort()];
    });
    const tried = Object.entries(TOOLS).map(([name, ids]) => [name, Object.keys(ids).sort()]);
    expect(Object.fromEntries(tried)).toEqual(Object.fromEntries(takesIds));

    const { resourceTemplates } = await resultOf<{ resourceTemplates: { uriTemplate: string }[] }>(
      app,
      owner,
      "resources/templates/list",
    );
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort()).toEqual(
      Object.keys(RESOURCES).sort(),
    );
    expect(v1RoutesOf(app)).toEqual(Object.keys(ROUTES).sort());
  });

  describe("a foreign id answers word for word as an unknown one", () => {
    const calls = Object.entries(TOOLS).flatMap(([tool, ids]) =>
      Object.entries(ids).flatMap(([parameter, forms]) =>
        forms.map((args, form) => [tool, parameter, form, args] as const),
      ),
    );

    test.each(calls)("%s: %s (form %i)", async (tool, _parameter, _form, args) => {
      const [foreign, unknown] = await bothAnswers((ids) => callTool(app, owner, tool, args(ids)));
      expect(foreign).toEqual(unknown);
      if (!("sourceMessageId" in args(unknownIds()))) {
        expect(foreign?.text).toMatch(/"isError":true/);
        expect(foreign?.text).toMatch(/NOT_FOUND|cursor/);
      }
    });

    const addresses = Object.entries(RESOURCES).flatMap(([template, uris]) =>
      uris.map((uri, form) => [template, form, uri] as const),
    );
    test.each(addresses)("%s (form %i)", async (_template, _form, uri) => {
      const [foreign, unknown] = await bothAnswers((ids) =>
        rpc(app, owner, "resources/read", { uri: uri(ids) }),
      );
      expect(foreign).toEqual(unknown);
      expect(foreign?.text).toMatch(/"error".*NOT_FOUND/);
    });

    test("prompt load_memory", async () => {
      for (const form of ["person", "external"] as const) {
        const [foreign, unknown] = await bothAnswers((ids) =>
          rpc(app, owner, "prompts/get", {
            name: "load_memory",
            arguments: { userId: ids[form] },
          }),
        );
        expect(foreign).toEqual(unknown);
        expect(foreign?.text).toMatch(/"error".*NOT_FOUND/);
      }
    });

    test.each(
      Object.entries(ROUTES).flatMap(([name, routes]) => routes.map((r) => [name, r] as const)),
    )("%s", async (_name, route) => {
      // Channels are made by the operator alone, of whichever org.
      const asOperator = async (ids: Ids) => {
        const [method, url, body] = route(ids);
        const { status, body: answer } = await app.v1(method, url, body, "ours");
        return { status, text: JSON.stringify(answer) };
      };
      const asOwner = (ids: Ids) => v1(app, owner, ...route(ids));
      for (const ask of [asOwner, asOperator]) {
        const [foreign, unknown] = await bothAnswers(ask);
        expect(foreign).toEqual(unknown);
        expect(foreign?.status).toBeGreaterThanOrEqual(403);
      }
      expect((await asOperator(idsOf(theirs))).status).toBe(404);
    });
  });

  test("the same key, tool and arguments of another org's call get an answer of their own", async () => {
    const body = { key: "secret.plan", value: "plan of ours" };
    const answer = await app.ok(
      "remember_fact",
      { scope: "org", ...body, idempotencyKey: "org-1" },
      owner,
    );
    expect(answer).toMatchObject({ outcome: "created", contradicts: [] });
  });

  test("nothing of what was answered is the other org's, and nothing of theirs changed", async () => {
    const before = await rowsOf(app.database.transactions, theirs.orgId);
    for (const list of [
      "keys",
      "orgs",
      "stores",
      "channels",
      "deliveries",
      "jobs",
      "jobs/runs",
      "turns?state=closed",
      "turns?state=open",
      "corrections",
      "users",
      "links",
      "audit",
    ]) {
      answers.push((await v1(app, owner, "GET", `/v1/${list}`)).text);
    }
    for (const query of ["plan of theirs", "theirs", "secret plan"]) {
      answers.push((await callTool(app, owner, "recall", { query, includeArchived: true })).text);
    }
    const said = answers.join("\n");
    for (const secret of [
      "of theirs",
      "said in theirs",
      theirs.secretVariable,
      theirs.identity.id,
    ]) {
      expect(said).not.toContain(secret);
    }
    expect(await rowsOf(app.database.transactions, theirs.orgId)).toEqual(before);
    expect(before.user_facts).toHaveLength(1);
    expect(before.memory_kv).toHaveLength(1);
  });
});
