import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { CAN_SEND } from "../support/telegram.ts";
import {
  ENTRY,
  FORMS,
  type Ids,
  idsOf,
  MAKES_PEOPLE,
  MINE,
  NO_IDS,
  NO_ROUTE_IDS,
  RESOURCES,
  TOOLS,
  unknownIds,
} from "./id-parameters.ts";
import { type DescribedOperation, idParametersOf, operationsOf } from "./operations.ts";
import { REQUESTS, requestOf, withId } from "./requests.ts";
import { rowsOf } from "./rows.ts";
import { callTool, resultOf, rpc, toolsOf, v1, type WireAnswer } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  let ours: SeededOrg;
  let owner: string;
  let operations: DescribedOperation[];
  const answers: string[] = [];
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf, env: CAN_SEND });
    theirs = await seedOrg(app, "theirs");
    await app.v1("POST", "/v1/stores", { slug: "shop-of-theirs" }, "theirs");
    ours = await seedOrg(app, "ours", 1);
    owner = ours.keys.owner;
    await app.ok("update_memory", { userId: MINE, ...ENTRY }, owner);
    operations = await operationsOf(app);
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
    const looksLikeIds = operations.flatMap((operation) =>
      idParametersOf(operation).map(({ name }) => [name, `${operation.operationId} ${name}`]),
    );
    const known = [...Object.keys(FORMS), ...NO_ROUTE_IDS];
    expect(looksLikeIds.filter((names) => !names.some((one) => known.includes(one)))).toEqual([]);
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

    let unique = 0;
    test.each(Object.entries(REQUESTS))("%s", async (id, prepare) => {
      const operation = operations.find(({ operationId }) => operationId === id);
      if (!operation) throw new Error(`no route has the operation ${id}`);
      for (const { name, place } of idParametersOf(operation)) {
        const forms = FORMS[name]?.filter(
          (form) => form !== "external" || !MAKES_PEOPLE.includes(id),
        );
        if (!forms || NO_ROUTE_IDS.includes(`${id} ${name}`)) continue;
        const parts = await prepare(app, ours, `n${++unique}`);
        for (const form of forms) {
          const requestFor = (ids: Ids) =>
            requestOf(operation, withId(parts, place, name, ids[form]));
          // Some things are done by the operator alone, for whichever org.
          const asOperator = async (ids: Ids) => {
            const [method, url, sent] = requestFor(ids);
            const { status, body } = await app.v1(method, url, sent, "ours");
            return { status, text: JSON.stringify(body) };
          };
          const asOwner = (ids: Ids) => v1(app, owner, ...requestFor(ids));
          for (const ask of [asOwner, asOperator]) {
            const [foreign, unknown] = await bothAnswers(ask);
            expect(foreign, `${name} as ${form}`).toEqual(unknown);
          }
          const { status, text } = await asOperator(idsOf(theirs));
          // What narrows a list finds nothing; what names something is not found.
          if (place === "query" && status === 200) expect(text).not.toContain("of theirs");
          else expect([name, form, status]).toEqual([name, form, 404]);
        }
      }
    });
  });

  test("the same key, tool and arguments of another org's call get an answer of their own", async () => {
    const body = { key: "secret.plan", value: "plan of ours" };
    const answer = await app.ok(
      "remember_fact",
      { scope: "org", ...body, idempotencyKey: "org-1" },
      owner,
    );
    expect(answer).toMatchObject({ outcome: "confirmed", contradicts: [] });
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
