import { inspect } from "node:util";
import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { DatabaseFault } from "../../src/db/faults.ts";
import { stores } from "../../src/db/schema/orgs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { AppError } from "../../src/errors.ts";
import { onBothDatabases } from "../support/database.ts";
import { openDatabase, type TestDatabase } from "./open-database.ts";

const AT = new Date("2026-03-01T10:00:00Z");
const SECRET = "a value that no error may tell";

onBothDatabases((engine) => {
  let db: TestDatabase;
  let over: Tx | undefined;
  beforeAll(async () => {
    db = await openDatabase(engine);
    await db.transactions.system("operator", async (tx) => {
      over = tx;
    });
  });
  afterAll(() => db.close());

  const addStore = (tx: Tx, orgId: string, slug: string) =>
    tx.insert(stores).values({ orgId, slug, name: slug, createdAt: AT });
  const slugsOf = async (org: { orgId: string }) => {
    const rows = await db.transactions.tenant(org, (tx) => tx.select().from(stores));
    return rows.map(({ slug }) => slug);
  };

  test("a transaction sees and writes its own org, whatever its queries ask for", async () => {
    const [ours, theirs] = [await db.newOrg(), await db.newOrg()];
    await db.transactions.tenant(theirs, (tx) => addStore(tx, theirs.orgId, "theirs"));
    await db.transactions.tenant(ours, async (tx) => {
      await addStore(tx, ours.orgId, "ours");
      expect(await tx.select({ slug: stores.slug }).from(stores)).toEqual([{ slug: "ours" }]);
      await tx.delete(stores).where(eq(stores.orgId, theirs.orgId));
    });
    expect(await slugsOf(theirs)).toEqual(["theirs"]);
    const write = db.transactions.tenant(ours, (tx) => addStore(tx, theirs.orgId, "planted"));
    await expect(write).rejects.toMatchObject({ name: "DatabaseFault", code: "42501" });
  });

  test("a throw undoes everything, and the next transaction works", async () => {
    const org = await db.newOrg();
    const failed = db.transactions.tenant(org, async (tx) => {
      await addStore(tx, org.orgId, "undone");
      throw new AppError("LIMIT_EXCEEDED", "too much");
    });
    await expect(failed).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", message: "too much" });
    expect(await slugsOf(org)).toEqual([]);
  });

  test("a failed query that its caller swallows fails the transaction all the same", async () => {
    const org = await db.newOrg();
    const swallowed = db.transactions.tenant(org, async (tx) => {
      await addStore(tx, org.orgId, "first");
      await tx.execute(sql`select 1 / 0`).catch(() => {});
      return "acknowledged";
    });
    await expect(swallowed).rejects.toMatchObject({ code: "22012" });
    expect(await slugsOf(org)).toEqual([]);
  });

  test("a transaction inside a transaction is an error at once, not a deadlock", async () => {
    const org = await db.newOrg();
    for (const inner of [
      () => db.transactions.tenant(org, async () => {}),
      () => db.transactions.system("operator", async () => {}),
    ]) {
      await expect(db.transactions.tenant(org, inner)).rejects.toThrow("open already");
      await expect(db.transactions.system("operator", inner)).rejects.toThrow("open already");
    }
    expect(await slugsOf(org)).toEqual([]);
  });

  test("transactions beside each other are none of each other's business", async () => {
    const orgs = await Promise.all(Array.from({ length: 30 }, () => db.newOrg()));
    await Promise.all(
      orgs.map((org, i) =>
        db.transactions.tenant(org, (tx) => addStore(tx, org.orgId, `store-${i}`)),
      ),
    );
    expect(await Promise.all(orgs.map(slugsOf))).toEqual(orgs.map((_, i) => [`store-${i}`]));
  });

  describe("an error of the database", () => {
    const failing: readonly [
      what: string,
      code: string,
      run: (tx: Tx, orgId: string) => unknown,
    ][] = [
      [
        "a repeated key",
        "23505",
        async (tx, orgId) => {
          await addStore(tx, orgId, SECRET);
          await addStore(tx, orgId, SECRET);
        },
      ],
      ["a bad uuid", "22P02", (tx) => tx.execute(sql`select ${SECRET}::uuid`)],
      ["a missing table", "42P01", (tx) => tx.execute(sql`select ${SECRET}::text from nowhere`)],
      [
        "a query of a transaction that is over",
        "unknown",
        () => over?.execute(sql`select ${SECRET}::text`),
      ],
    ];

    test.each(failing)(
      "%s leaves without a word of the query or its values",
      async (_what, code, run) => {
        const org = await db.newOrg();
        const error = await db.transactions
          .tenant(org, async (tx) => run(tx, org.orgId))
          .catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(DatabaseFault);
        expect((error as DatabaseFault).code).toBe(code);
        const everything = inspect(error, { depth: 10, showHidden: true });
        expect(everything).not.toContain(SECRET);
        expect(everything).not.toMatch(/select|insert|Failed query|params/i);
      },
    );

    test("a text with U+0000 is the caller's mistake and says so", async () => {
      const org = await db.newOrg();
      const write = db.transactions.tenant(org, (tx) => addStore(tx, org.orgId, "a\u0000b"));
      await expect(write).rejects.toMatchObject({ name: "AppError", code: "INVALID_INPUT" });
      const document = JSON.stringify(["a\u0000b"]);
      const read = db.transactions.tenant(org, (tx) =>
        tx.execute(sql`select ${document}::json->>0`),
      );
      await expect(read).rejects.toMatchObject({ name: "AppError", code: "INVALID_INPUT" });
    });

    test("what is no database's error goes through as it is", async () => {
      const bug = new TypeError("a bug of ours");
      const run = db.transactions.system("operator", () => Promise.reject(bug));
      await expect(run).rejects.toBe(bug);
    });
  });
});

describe.skipIf(inject("postgresUrl") === undefined)(
  "on PostgreSQL, with several connections",
  () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await openDatabase("postgres");
    });
    afterAll(() => db.close());

    /** Both sides of a race meet here once, so that it is a race; a repeated attempt walks through. */
    function meeting(sides: number): () => Promise<void> {
      let open = () => {};
      const all = new Promise<void>((resolve) => {
        open = resolve;
      });
      let arrived = 0;
      return () => {
        if (++arrived >= sides) open();
        return all;
      };
    }

    test("of two transactions in a deadlock the one that lost runs again, and both succeed", async () => {
      const met = meeting(2);
      let attempts = 0;
      const lockBoth = (first: number, second: number) =>
        db.transactions.system("operator", async (tx) => {
          attempts++;
          await tx.execute(sql`set local deadlock_timeout = '20ms'`);
          await tx.execute(sql`select pg_advisory_xact_lock(${first})`);
          await met();
          await tx.execute(sql`select pg_advisory_xact_lock(${second})`);
          return first;
        });
      expect(await Promise.all([lockBoth(1, 2), lockBoth(2, 1)])).toEqual([1, 2]);
      expect(attempts).toBe(3);
    });

    test("of two writes that cannot be put in an order the one that lost runs again", async () => {
      const org = await db.newOrg();
      await db.transactions.tenant(org, (tx) =>
        tx.insert(stores).values({ ...org, slug: "s", name: "0", createdAt: AT }),
      );
      const met = meeting(2);
      let attempts = 0;
      const increment = () =>
        db.transactions.system("operator", async (tx) => {
          attempts++;
          await tx.execute(sql`set transaction isolation level repeatable read`);
          const [row] = await tx.select().from(stores).where(eq(stores.orgId, org.orgId));
          await met();
          const name = String(Number(row?.name) + 1);
          await tx.update(stores).set({ name }).where(eq(stores.orgId, org.orgId));
        });
      await Promise.all([increment(), increment()]);
      const [row] = await db.transactions.tenant(org, (tx) => tx.select().from(stores));
      expect({ name: row?.name, attempts }).toEqual({ name: "2", attempts: 3 });
    });

    test("what fails for the same reason three times is an error, with all of it undone", async () => {
      const org = await db.newOrg();
      let attempts = 0;
      const hopeless = db.transactions.tenant(org, async (tx) => {
        attempts++;
        await tx.insert(stores).values({ ...org, slug: "s", name: "s", createdAt: AT });
        await tx.execute(sql`do $$ begin raise exception using errcode = '40001'; end $$`);
      });
      await expect(hopeless).rejects.toMatchObject({ name: "DatabaseFault", code: "40001" });
      expect(attempts).toBe(3);
      expect(await db.transactions.tenant(org, (tx) => tx.select().from(stores))).toEqual([]);
    });

    test("a connection lost in the middle is UNAVAILABLE, and the next transaction gets another", async () => {
      const lost = db.transactions.system("operator", (tx) =>
        tx.execute(sql`select pg_terminate_backend(pg_backend_pid())`),
      );
      await expect(lost).rejects.toMatchObject({ name: "AppError", code: "UNAVAILABLE" });
      expect(await db.newOrg()).toHaveProperty("orgId");
    });
  },
);
