import { setTimeout as wait } from "node:timers/promises";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { stores } from "../../src/db/schema/orgs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { onBothDatabases } from "../support/database.ts";
import { openDatabase, type TestDatabase } from "./open-database.ts";

const AT = new Date("2026-03-01T10:00:00Z");
const addStore = (tx: Tx, orgId: string) =>
  tx.insert(stores).values({ orgId, slug: "s", name: "s", createdAt: AT });

onBothDatabases((engine) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());

  test("a query that comes after its transaction ended is refused, and never runs in the next one", async () => {
    const [ours, theirs] = [await db.newOrg(), await db.newOrg()];
    let late: Tx | undefined;
    await db.transactions.tenant(ours, async (tx) => {
      late = tx;
    });
    await db.transactions.tenant(theirs, async (tx) => {
      await addStore(tx, theirs.orgId);
      for (const query of [late?.select().from(stores), late?.execute(sql`rollback`)]) {
        await expect(query).rejects.toThrow();
      }
    });
    const kept = await db.transactions.tenant(theirs, (tx) => tx.select().from(stores));
    expect(kept).toHaveLength(1);
  });

  test("200 transactions at once all get their turn, also behind ones that fail", async () => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        db.transactions
          .system("operator", async (tx) => {
            order.push(i);
            await tx.execute(i % 3 === 0 ? sql`select 1 / 0` : sql`select 1`);
          })
          .catch(() => {}),
      ),
    );
    expect(order.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });
});

describe.skipIf(inject("postgresUrl") === undefined)("when PostgreSQL drops connections", () => {
  let db: TestDatabase;
  let admin: postgres.Sql;
  beforeAll(async () => {
    db = await openDatabase("postgres");
    admin = postgres(db.env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  });
  afterAll(async () => {
    await admin.end();
    await db.close();
  });

  const dropEverybodyElse = () => admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  const pidOf = async (tx: Tx) => {
    const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    return Number(row?.pid);
  };
  const drop = async (tx: Tx) => {
    const pid = await pidOf(tx);
    await admin`select pg_terminate_backend(${pid}, 5000)`;
  };
  const dropWhileBusy = async (tx: Tx) => {
    const pid = await pidOf(tx);
    // Drizzle sends a query only when somebody waits for it.
    const busy = tx.execute(sql`select pg_sleep(60)`).then(() => {});
    const isBusy = async () => {
      const rows = await admin`
        select 1 from pg_stat_activity where pid = ${pid} and state = 'active' and query ~ 'pg_sleep'`;
      return rows.length === 1;
    };
    await expect.poll(isBusy).toBe(true);
    await Promise.all([busy, admin`select pg_terminate_backend(${pid})`]);
  };

  /** Ways to lose the connection of a transaction that has written already. */
  const losses: readonly [when: string, lose: (tx: Tx) => Promise<unknown>][] = [
    ["while a query runs", dropWhileBusy],
    [
      "between two queries",
      async (tx) => {
        await drop(tx);
        await tx.execute(sql`select 1`);
      },
    ],
    [
      "and the caller swallows the error and goes on",
      async (tx) => {
        await dropWhileBusy(tx).catch(() => {});
        await tx.execute(sql`select 1`).catch(() => {});
        return "acknowledged";
      },
    ],
  ];

  test.each(losses)(
    "a connection lost %s fails its call alone, and nothing is stored",
    async (_when, lose) => {
      // More often than the pool has connections: one that came back broken would be met.
      for (let round = 0; round < 12; round++) {
        const org = await db.newOrg();
        const lost = db.transactions.tenant(org, async (tx) => {
          await addStore(tx, org.orgId);
          await lose(tx);
        });
        await expect(lost).rejects.toMatchObject({ name: "AppError", code: "UNAVAILABLE" });
        expect(await db.transactions.tenant(org, (tx) => tx.select().from(stores))).toEqual([]);
      }
    },
  );

  test("a database that throws everybody out again and again is used as soon as it lets us in", async () => {
    for (let round = 0; round < 10; round++) {
      const busy = Array.from({ length: 15 }, () =>
        db.transactions.system("operator", (tx) => tx.execute(sql`select pg_sleep(0.02)`)),
      );
      await Promise.all([dropEverybodyElse(), Promise.allSettled(busy)]);
    }
    await dropEverybodyElse();
    const answers = Array.from({ length: 30 }, () =>
      db.transactions.system("operator", (tx) => tx.execute<{ n: number }>(sql`select 1 as n`)),
    );
    const outcomes = await Promise.allSettled(answers);
    const refused = outcomes.filter(({ status }) => status === "rejected");
    // The last drop may be noticed only when one of the ten is used.
    expect(refused.length).toBeLessThanOrEqual(10);
    const again = await Promise.all(
      Array.from({ length: 30 }, () => db.transactions.system("operator", pidOf)),
    );
    expect(again).toHaveLength(30);
  });

  test("a query of a lost transaction never lands in one that came later", async () => {
    const org = await db.newOrg();
    let late: Tx | undefined;
    const lost = db.transactions.tenant(org, async (tx) => {
      late = tx;
      await dropWhileBusy(tx);
    });
    await expect(lost).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await Promise.all(
      Array.from({ length: 10 }, () =>
        db.transactions.system("operator", async (tx) => {
          await tx.execute(sql`select 1`);
          await wait(0);
          await expect(addStore(late as Tx, org.orgId)).rejects.toThrow();
        }),
      ),
    );
    expect(await db.transactions.tenant(org, (tx) => tx.select().from(stores))).toEqual([]);
  });
});
