import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { Database } from "../../src/db/client.ts";
import { stores } from "../../src/db/schema/orgs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { StallingProxy } from "../support/stalling-proxy.ts";
import { openDatabase, type TestDatabase } from "./open-database.ts";

const PATIENCE = 1000;
const UNAVAILABLE = { name: "AppError", code: "UNAVAILABLE" };

describe.skipIf(inject("postgresUrl") === undefined)("when PostgreSQL stands still", () => {
  /** Without the proxy: what is really stored. */
  let beside: TestDatabase;
  let proxy: StallingProxy;
  let database: Database;
  beforeAll(async () => {
    beside = await openDatabase("postgres");
    const url = beside.env.DATABASE_URL as string;
    proxy = await StallingProxy.before(url);
    database = await Database.open({ url: proxy.url(url), dataDir: "", patience: PATIENCE });
  });
  beforeEach(() => proxy.resume());
  afterAll(async () => {
    await database.close();
    proxy.close();
    await beside.close();
  });

  const addStore = (tx: Tx, orgId: string) =>
    tx.insert(stores).values({ orgId, slug: "s", name: "s", createdAt: new Date(0) });
  const storesOf = (org: { orgId: string }) =>
    beside.transactions.tenant(org, (tx) => tx.select().from(stores));

  test("every call is answered UNAVAILABLE, the ones that wait for a connection too, and the next ones work", async () => {
    const org = await beside.newOrg();
    const call = () => database.transactions.tenant(org, (tx) => tx.select().from(stores));
    // So that there are connections that stall.
    await Promise.all(Array.from({ length: 10 }, call));
    proxy.stall();
    const stalled: Promise<unknown>[] = [...Array.from({ length: 30 }, call), database.ping()];
    for (const { status, ...outcome } of await Promise.allSettled(stalled)) {
      expect(status).toBe("rejected");
      expect(outcome).toMatchObject({ reason: UNAVAILABLE });
    }
    proxy.resume();
    expect(await Promise.all(Array.from({ length: 30 }, call))).toHaveLength(30);
    await database.ping();
  });

  test("in the middle of a transaction it costs that one alone, and nothing of it is stored", async () => {
    const org = await beside.newOrg();
    const write = database.transactions.tenant(org, async (tx) => {
      await addStore(tx, org.orgId);
      proxy.stall();
      await tx.execute(sql`select 1`);
    });
    await expect(write).rejects.toMatchObject({
      ...UNAVAILABLE,
      hint: expect.stringContaining("Nothing was stored."),
    });
    expect(await storesOf(org)).toEqual([]);
  });

  test("after COMMIT was sent, nobody is told that it was stored, nor that it was not", async () => {
    const org = await beside.newOrg();
    proxy.stall("commit");
    const write = database.transactions.tenant(org, (tx) => addStore(tx, org.orgId));
    await expect(write).rejects.toMatchObject({
      ...UNAVAILABLE,
      hint: expect.stringContaining("not known"),
    });
    // This time it was: PostgreSQL got the COMMIT.
    await expect.poll(() => storesOf(org)).toHaveLength(1);
  });

  test("a long transaction of short statements is not taken for silence", async () => {
    const sum = await database.transactions.system("operator", async (tx) => {
      let seconds = 0;
      for (let step = 0; step < 8; step++) {
        await tx.execute(sql`select pg_sleep(${(PATIENCE / 1000) * 0.3})`);
        seconds += 1;
      }
      return seconds;
    });
    expect(sum).toBe(8);
  });

  test("work that nobody waits for may take longer", async () => {
    const nap = (purpose: "retention" | "operator") =>
      database.transactions.system(purpose, async (tx) => {
        await tx.execute(sql`select pg_sleep(${(PATIENCE / 1000) * 2})`);
        return "done";
      });
    expect(await nap("retention")).toBe("done");
    await expect(nap("operator")).rejects.toMatchObject(UNAVAILABLE);
  });

  test("a lock that somebody keeps is given up by PostgreSQL itself, and the connection stays", async () => {
    const pidOf = async (tx: Tx) => {
      const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      return row?.pid;
    };
    const lock = sql`select pg_advisory_xact_lock(77)`;
    const first = await database.transactions.system("operator", pidOf);
    await beside.transactions.system("operator", async (tx) => {
      await tx.execute(lock);
      const waits = database.transactions.system("operator", (other) => other.execute(lock));
      await expect(waits).rejects.toMatchObject({ ...UNAVAILABLE, cause: { code: "55P03" } });
    });
    expect(await database.transactions.system("operator", pidOf)).toBe(first);
  });
});
