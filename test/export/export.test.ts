import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LISTED_NAMES, SECTION_NAMES } from "../../src/export/rows.ts";
import { sectionsOf } from "../../src/export/sections.ts";
import { type SeededOrg, secretOf, seedOrg } from "../isolation/seeded-org.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { fetchExport, type ReadExport, takeExport } from "./exported.ts";

const VALUE = { b: [1.5, null, "10.5"], a: { ["__proto__"]: 1, "2": "é\u2028</script>" } };

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  let whole: ReadExport;
  let person: ReadExport;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf });
    org = await seedOrg(app, "acme");
    await seedOrg(app, "other", 200);
    await app.callRaw(
      "update_memory",
      `{"userId":"telegram:100","key":"value","value":${JSON.stringify(VALUE)}}`,
      org.keys.member,
    );
    whole = await takeExport(app, "org=1", { key: org.keys.owner });
    person = await takeExport(app, "userId=telegram:100", { key: org.keys.member });
  });
  afterAll(() => app.dispose());

  const query = (statement: string) =>
    app.database.transactions.system("operator", (tx) => tx.execute(sql.raw(statement)));

  test("an org's holds rows of every section, and says how many", async () => {
    const { header, rows, totals } = whole;
    expect(header).toMatchObject({ scope: "org", id: org.orgId, org: { slug: "acme" } });
    for (const name of sectionsOf({ name: header.scope }, SECTION_NAMES)) {
      expect([name, rows[name].length]).toEqual([name, totals[name]]);
      expect([name, header.counts[name]]).toEqual([name, totals[name]]);
      expect([name, rows[name].length > 0]).toEqual([name, true]);
    }
    for (const name of sectionsOf({ name: header.scope }, LISTED_NAMES))
      expect([name, header.counts[name]]).toEqual([name, rows[name].length]);
    expect(rows.keys).toHaveLength(3);
  });

  test("as one document it is the same, in valid JSON", async () => {
    const { header, rows, totals } = whole;
    const { text, headers } = await fetchExport(app, "org=1", { key: org.keys.owner });
    const document = JSON.parse(text);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["content-disposition"]).toBe(
      `attachment; filename="souvenir-org-${org.orgId}.json"`,
    );
    expect(document).toMatchObject({ format: "souvenir-export", version: 1, totals });
    for (const name of sectionsOf({ name: header.scope }, SECTION_NAMES))
      expect(document.sections[name]).toEqual(rows[name]);
    const without = (keys: readonly object[]) => keys.map((key) => ({ ...key, lastUsedAt: null }));
    expect(without(document.listed.keys)).toEqual(without(rows.keys));
  });

  test("values come out as they went in: type, digits, and the order of their keys", () => {
    expect(person.text).toContain(`"value":${JSON.stringify(VALUE)}`);
  });

  test("nothing of it opens anything, and nothing is another org's", () => {
    const { text } = whole;
    for (const secret of [org.key.hash, ...Object.values(org.keys), secretOf(org.secretVariable)])
      expect(text).not.toContain(secret);
    expect(text).not.toContain("of other");
  });

  test("a person's holds who was linked into them, and nothing of anybody else", async () => {
    const userId = "telegram:300";
    const { owner } = org.keys;
    await app.ok("update_memory", { userId, key: "k", value: "of 300" }, owner);
    await app.ok("update_memory", { userId: "web:301", key: "k", value: "of 301" }, owner);
    const link = { with: "web:301", reason: "the same" };
    const linked = await app.v1("POST", `/v1/users/${userId}/links`, link, "acme");
    expect(linked.status).toBe(201);
    const { rows, text } = await takeExport(app, `userId=${userId}`, { key: owner });
    expect(rows.users).toHaveLength(2);
    expect(rows.users[1]?.linkedInto).toBe(rows.users[0]?.id);
    expect(rows.identities.map(({ externalId }) => externalId)).toEqual(["300", "301"]);
    expect(rows.entries.map(({ value }) => value).sort()).toEqual(["of 300", "of 301"]);
    expect(rows.links).toHaveLength(1);
    expect(rows.audit.map(({ action }) => action)).toContain("user.linked");
    expect(text).not.toContain("said in acme");
  });

  test("a person's lists apart what the org and its stores learned from their messages", () => {
    const { rows } = person;
    expect(rows.orgFactsFromMessages.map(({ id }) => id)).toEqual([org.facts.org]);
    expect(rows.storeFactsFromMessages.map(({ id }) => id)).toEqual([org.facts.store]);
    expect(rows.userFacts.map(({ id }) => id)).toEqual([org.facts.user]);
    expect([rows.orgFacts, rows.storeFacts]).toEqual([[], []]);
  });

  test("a store's holds its facts, its messages and who wrote them", async () => {
    const { rows, header } = await takeExport(app, "storeId=shop", { key: org.keys.admin });
    expect(header).toMatchObject({ scope: "store", id: org.storeId });
    expect(rows.storeFacts.map(({ id }) => id)).toEqual([org.facts.store]);
    expect(rows.messages.length).toBeGreaterThan(0);
    expect(new Set(rows.messages.map(({ storeId }) => storeId))).toEqual(new Set([org.storeId]));
    const people = rows.users.map(({ id }) => id);
    for (const { userId } of rows.messages) expect(people).toContain(userId);
    expect([rows.userFacts, rows.entries]).toEqual([[], []]);
  });

  test("a revision is with its message, and what was edited away is there", () => {
    const { rows } = person;
    expect(rows.revisions).toMatchObject([{ revision: 0, text: "first" }]);
    expect(rows.messages.map(({ id }) => id)).toContain(rows.revisions[0]?.messageId);
  });

  test("it is noted who took it before the first byte is out, and a look at the headers is no export", async () => {
    const taken = async () => {
      const rows = await query("select action from audit_events where action like '%.exported'");
      const events = await query("select kind from memory_events where kind = 'exported'");
      expect(events.length).toBe(rows.length);
      return rows.length;
    };
    const before = await taken();
    const { rows } = await takeExport(app, "org=1", { key: org.keys.owner });
    expect(await taken()).toBe(before + 1);
    expect(rows.operations.at(-1)).toMatchObject({
      action: "org.exported",
      actor: rows.keys[0]?.id,
    });
    expect(rows.keys[0]?.name).toBe("owner of acme");
    const head = await app.http.inject({
      method: "HEAD",
      url: "/v1/export?org=1",
      headers: { host: "localhost", authorization: `Bearer ${org.keys.owner}` },
    });
    expect(head.statusCode).toBe(405);
    await fetchExport(app, "org=1", { key: org.keys.member });
    expect(await taken()).toBe(before + 1);
  });

  describe("who may", () => {
    const status = async (query: string, pins: object, role: "member" | "admin" = "member") => {
      const key = await app.createKey({ role, ...pins }, "acme");
      return (await fetchExport(app, query, { key })).status;
    };

    test("members take a person, admins also a store and the org", async () => {
      expect(await status("userId=telegram:100", {})).toBe(200);
      expect(await status("storeId=shop", {})).toBe(403);
      expect(await status("org=1", {})).toBe(403);
      expect(await status("storeId=shop", {}, "admin")).toBe(200);
      expect(await status("org=1", {}, "admin")).toBe(200);
    });

    test("a key of a person takes that person, whom it need not name", async () => {
      const pins = { pinUserId: "telegram:100" };
      expect(await status("", pins)).toBe(200);
      expect(await status("userId=telegram:300", pins)).toBe(404);
      expect(await status("storeId=shop", pins, "admin")).toBe(404);
      expect(await status("org=1", pins, "admin")).toBe(403);
    });

    test("a key that sees a part takes nothing, rather than a part that looks whole", async () => {
      expect(await status("userId=telegram:100", { pinAgentId: "maya" })).toBe(403);
      expect(await status("userId=telegram:100", { pinStoreId: "shop" })).toBe(403);
      expect(await status("org=1", { pinStoreId: "shop" }, "admin")).toBe(403);
      expect(await status("storeId=shop", { pinStoreId: "shop" }, "admin")).toBe(200);
    });

    test("one thing has to be named, and no more", async () => {
      for (const query of [
        "",
        "org=1&userId=telegram:100",
        "org=2",
        "org=1&format=xml",
        "org=1&x=1",
      ])
        expect([query, await status(query, {}, "admin")]).toEqual([query, 400]);
    });
  });
});
