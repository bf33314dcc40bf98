import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_KEY_ID, type Principal } from "../../src/access/principal.ts";
import { AuditRepository } from "../../src/audit/repository.ts";
import { AuditService } from "../../src/audit/service.ts";
import { OrgRepository } from "../../src/orgs/repository.ts";
import { OrgService, Slug } from "../../src/orgs/service.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

test("a slug is short, lower-case and never an id", () => {
  for (const slug of ["a", "shop-1", "0_x", "a".repeat(63)]) {
    expect(Slug.safeParse(slug).success).toBe(true);
  }
  const refused = [
    "",
    "A",
    "-a",
    "_a",
    "a b",
    "a/b",
    "é",
    "a\u0000",
    "a\n",
    "a".repeat(64),
    "01900000-0000-7000-8000-000000000000",
  ];
  for (const slug of refused) expect([slug, Slug.safeParse(slug).success]).toEqual([slug, false]);
});

onBothDatabases((engine) => {
  const clock = new TestClock();
  let db: TestDatabase;
  let orgs: OrgService;
  beforeAll(async () => {
    db = await openDatabase(engine);
    const audit = new AuditService(new AuditRepository(), db.transactions, clock.now);
    orgs = new OrgService(new OrgRepository(), audit, db.transactions, clock.now);
  });
  afterAll(() => db.close());

  const principal = (orgId: string, more: Partial<Principal> = {}): Principal => ({
    orgId,
    keyId: "key",
    role: "owner",
    defaultAgent: "atlas",
    pins: {},
    ...more,
  });
  const newPrincipal = async () => principal((await db.newOrg()).orgId);
  const operator = principal("none", { keyId: OPERATOR_KEY_ID });

  test("20 starts at once make one org of a name", async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () =>
        db.transactions.system("bootstrap", (tx) => orgs.ensure("default", tx)),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  test("an org's name is taken once, a store's once in each org", async () => {
    await orgs.create(operator, "acme", "Acme");
    await expect(orgs.create(operator, "acme", "Another")).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const [ours, theirs] = [await newPrincipal(), await newPrincipal()];
    const shop = await orgs.createStore(ours, "shop", "Shop");
    await expect(orgs.createStore(ours, "shop", "Again")).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const other = await orgs.createStore(theirs, "shop", "Shop");
    expect(other.id).not.toBe(shop.id);
    expect(await orgs.listStores(theirs)).toEqual([other]);
  });

  test("of 20 that make one store at once one does, and 19 are told so", async () => {
    const by = await newPrincipal();
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, () => orgs.createStore(by, "shop", "Shop")),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await orgs.listStores(by)).toHaveLength(1);
  });

  test("a store is found by id in any case and by slug, and in another org not at all", async () => {
    const [ours, theirs] = [await newPrincipal(), await newPrincipal()];
    const shop = await orgs.createStore(ours, "shop", "Shop");
    const find = (by: Principal, id: string) =>
      db.transactions.tenant(by, (tx) => orgs.findStore(by, id, tx));
    for (const id of [shop.id, shop.id.toUpperCase(), "shop"]) {
      expect(await find(ours, id)).toEqual(shop);
      await expect(find(theirs, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    for (const id of ["Shop", "sho", "shop ", "%", "_hop", "' or true --", "{}", `{${shop.id}}`]) {
      await expect(find(ours, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("orgs are the operator's: no key sees or makes one, whatever its role", async () => {
    const owner = await newPrincipal();
    await expect(async () => orgs.list(owner)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(async () => orgs.create(owner, "mine", "Mine")).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect((await orgs.list(operator)).map(({ slug }) => slug)).not.toContain("mine");
  });
});
