import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SeededOrg, secretOf, seedOrg } from "../isolation/seeded-org.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type ReadExport, takeExport } from "./exported.ts";
import { importLines, refused, tally } from "./importing.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let source: TestApp;
  let target: TestApp;
  let org: SeededOrg;
  let whole: ReadExport;
  beforeAll(async () => {
    source = await openApp(engine, { clock: clock.now, secretOf });
    target = await openApp(engine, { clock: clock.now, secretOf });
    org = await seedOrg(source, "acme");
    const remember = (value: unknown, n: number) =>
      source.ok(
        "remember_fact",
        {
          scope: "user",
          userId: "telegram:100",
          key: "home.city",
          value,
          sourceMessageId: `m${n}`,
        },
        org.keys.admin,
      );
    await remember("Lyon", 1);
    await remember("lyon.", 2);
    await remember("Paris", 3);
    await source.v1("POST", "/v1/consolidate");
    whole = await takeExport(source, "org=1", { org: "acme" });
    await target.v1("POST", "/v1/orgs", { slug: "copy" });
  });
  afterAll(async () => {
    await source.dispose();
    await target.dispose();
  });

  const rows = (app: TestApp, statement: string) =>
    app.database.transactions.system("operator", (tx) => tx.execute(sql.raw(statement)));

  describe("an org's export in an empty org of another server", () => {
    test("is tried without a trace", async () => {
      const outcomes = await importLines(target, whole.lines, { org: "copy", dryRun: true });
      expect(refused(outcomes)).toEqual([]);
      const empty = await takeExport(target, "org=1", { org: "copy" });
      expect(Object.values(empty.totals).reduce((sum, count) => sum + count, 0)).toBe(1);
      expect(empty.totals.settings).toBe(1);
    });

    test("goes on where it was broken off, and is the same bytes when it is exported again", async () => {
      const half = Math.floor(whole.lines.length / 2);
      await importLines(target, whole.lines.slice(0, half), { org: "copy", batch: 7 });
      const outcomes = await importLines(target, whole.lines, { org: "copy", batch: 10 });
      expect(refused(outcomes)).toEqual([]);
      expect((await takeExport(target, "org=1", { org: "copy" })).body).toBe(whole.body);
    });

    test("folds to the same state, with no other trail, and is found again", async () => {
      const { body } = await target.v1("POST", "/v1/consolidate");
      expect(body.counts).toMatchObject({ merged: 0, superseded: 0, restored: 0, failed: 0 });
      expect((await takeExport(target, "org=1", { org: "copy" })).body).toBe(whole.body);
      const key = await target.createKey({ role: "member" }, "copy");
      const query = { userId: "telegram:100", query: "Paris" };
      const { facts } = await target.ok("recall", query, key);
      expect(JSON.stringify(facts)).toContain("Paris");
      const pending = await rows(
        target,
        "select 1 from user_facts where consolidated_at is null or consolidated_at < '2000-01-01'",
      );
      expect(pending).toHaveLength(0);
    });

    test("changes nothing the second time", async () => {
      const outcomes = await importLines(target, whole.lines, { org: "copy" });
      expect(Object.keys(tally(outcomes)).sort()).toEqual(["listed", "present"]);
      expect((await takeExport(target, "org=1", { org: "copy" })).body).toBe(whole.body);
      const { rows: noted } = await takeExport(target, "org=1", { org: "copy" });
      const imports = noted.operations.filter(({ action }) => action === "org.imported");
      expect(imports.length).toBeGreaterThan(1);
    });

    test("leaves what was changed since, and says in which fields", async () => {
      const [line] = whole.lines.filter((text) => text.startsWith('{"section":"entries"'));
      const changed = line?.replace('"value":"of acme"', '"value":"of another"') ?? "";
      const [outcome] = await importLines(target, [changed], { org: "copy" });
      expect(outcome).toMatchObject({ outcome: "differs", reason: "value" });
      expect((await takeExport(target, "org=1", { org: "copy" })).body).toBe(whole.body);
    });
  });

  test("a person's is restored beside others, with the stores that it names", async () => {
    const person = await takeExport(source, "userId=telegram:100", { org: "acme" });
    const other = await openApp(engine, { clock: clock.now, secretOf });
    try {
      await other.v1("POST", "/v1/orgs", { slug: "shop" });
      const key = await other.createKey({ role: "owner" }, "shop");
      await other.ok("update_memory", { userId: "telegram:9", key: "k", value: 1 }, key);
      expect(refused(await importLines(other, person.lines, { org: "shop" }))).toEqual([]);
      const again = await takeExport(other, "userId=telegram:100", { org: "shop" });
      expect(again.body).toBe(person.body);
    } finally {
      await other.dispose();
    }
  });

  test("what another org of the server has is refused, as anything whose place is taken", async () => {
    await source.v1("POST", "/v1/orgs", { slug: "thief" });
    const [user = "", identity = ""] = ["users", "identities"].map((name) =>
      whole.lines.find((text) => text.startsWith(`{"section":"${name}"`)),
    );
    const outcomes = await importLines(source, [user, identity], { org: "thief" });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
    expect(outcomes[0]?.reason).toBe("its id, or what may be there only once, is taken");
    expect(outcomes[1]?.reason).toMatch(/^userId: .* is neither here nor before this line/);
    expect((await takeExport(source, "org=1", { org: "acme" })).body).toBe(whole.body);
  });

  test("linked people whose person is another org's, themselves, or linked are refused alone", async () => {
    await target.v1("POST", "/v1/orgs", { slug: "taken" });
    await target.v1("POST", "/v1/orgs", { slug: "edited" });
    const known = JSON.parse(
      whole.lines.find((text) => text.startsWith('{"section":"users"')) ?? "",
    );
    const id = (n: number) => `0190bbbb-0000-7000-8000-00000000000${n}`;
    const person = (n: number, linkedInto?: number) => {
      const row = { ...known.row, id: id(n), linkedInto: linkedInto ? id(linkedInto) : null };
      return JSON.stringify({ section: "users", row });
    };
    await importLines(target, [person(1)], { org: "taken" });
    const lines = [person(1), person(2), person(3, 1), person(4, 2), person(5, 5), person(6, 4)];
    const outcomes = await importLines(target, lines, { org: "edited" });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "refused",
      "new",
      "refused",
      "new",
      "refused",
      "refused",
    ]);
    expect(outcomes[5]?.reason).toMatch(/or is linked itself$/);
  });

  test("somebody who is here under another id is refused by name, and so is what is theirs", async () => {
    await target.v1("POST", "/v1/orgs", { slug: "clash" });
    const key = await target.createKey({ role: "owner" }, "clash");
    await target.ok("update_memory", { userId: "telegram:100", key: "k", value: 1 }, key);
    const outcomes = await importLines(target, whole.lines, { org: "clash", dryRun: true });
    const said = refused(outcomes).find((text) => text.includes("identities"));
    expect(said).toMatch(/telegram 100 is here already, as [0-9a-f-]{36}$/);
  });

  test("an owner's key restores all but channel accounts, which name the server's secrets", async () => {
    await target.v1("POST", "/v1/orgs", { slug: "owned" });
    const key = await target.createKey({ role: "owner" }, "owned");
    const account = whole.lines.find((text) => text.includes('"section":"channelAccounts"')) ?? "";
    const response = await target.http.inject({
      method: "POST",
      url: "/v1/imports/souvenir",
      headers: { host: "localhost", authorization: `Bearer ${key}` },
      payload: { lines: [{ number: 1, text: account }] },
    });
    expect(response.json().lines).toMatchObject([
      {
        outcome: "refused",
        reason: "channel accounts are restored on the server's own command line",
      },
    ]);
  });

  describe("a hostile line is refused by its number, and nothing of it stored", () => {
    const id = "0190aaaa-0000-7000-8000-000000000001";
    const entry = (value: string, more = "") =>
      `{"section":"entries","row":{"userId":"${id}","identityId":null,"key":"k","value":${value},"writtenBy":"x","agentId":"atlas","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"${more}}}`;

    test.each([
      ["no JSON", "{", "it is no JSON"],
      ["an array", "[1]", "it is no line of an export"],
      [
        "a section that is none",
        '{"section":"constructor","row":{}}',
        "it is no line of an export",
      ],
      ["a section of the list", '{"section":"keys","row":{}}', "it is no line of an export"],
      ["more than a row", '{"section":"entries","row":{},"x":1}', "it is no line of an export"],
      ["a number that would change", entry("9007199254740993"), "cannot be held exactly"],
      ["a number of no end", entry("1e999"), "cannot be held exactly"],
      ["a key that would move", entry('{"b":1,"2":1}'), "order of a number-like key"],
      ["a key twice", entry('{"b":1,"b":2}'), "appears twice"],
      ["half a surrogate", entry('"\\ud800"'), "half of a surrogate pair"],
      ["U+0000", entry('"\\u0000"'), "U+0000"],
      ["a value too deep", entry(`${"[".repeat(300)}${"]".repeat(300)}`), "nested too deeply"],
      ["an unknown field", entry("1", ',"orgId":"x"'), "Unrecognized key"],
      ["__proto__ as a field", entry("1", ',"__proto__":{"a":1}'), "__proto__"],
      ["an id in capitals", entry("1").replace(id, id.toUpperCase()), "userId: must be an id"],
      ["a time that is none", entry("1").replace("-01-01T", "-02-30T"), "createdAt"],
      ["another version", '{"format":"souvenir-export","version":2}', "version"],
      ["somebody unknown", entry("1"), "is neither here nor before this line"],
    ])("%s", async (_what, line, reason) => {
      const [outcome] = await importLines(target, [line], { org: "copy" });
      expect(outcome).toMatchObject({ number: 1, outcome: "refused" });
      expect(outcome?.reason).toContain(reason);
    });

    test("a line longer than any row", async () => {
      const long = entry(`"${"x".repeat(4 * 1024 * 1024)}"`);
      const [outcome] = await importLines(target, [long], { org: "copy" });
      expect(outcome).toMatchObject({ outcome: "refused", reason: "it is longer than any row" });
    });

    test("while a value may have a key of any name", async () => {
      const person = whole.rows.users[0]?.id;
      const value = '{"__proto__":{"a":1},"constructor":null,"toString":"x"}';
      const line = entry(value).replace(id, String(person));
      const [outcome] = await importLines(target, [line], { org: "copy" });
      expect(outcome).toMatchObject({ outcome: "new" });
      expect((await takeExport(target, "org=1", { org: "copy" })).text).toContain(
        `"key":"k","value":${value}`,
      );
    });
  });
});
