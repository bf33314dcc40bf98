import { eq } from "drizzle-orm";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jobs } from "../../src/db/schema/jobs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { type ClaimedJob, JobQueue, type NewJob } from "../../src/jobs/queue.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import { onBothDatabases } from "../support/database.ts";

const NOON = new Date("2026-03-01T12:00:00.000Z");
const LEASE_MS = 60_000;
const after = (milliseconds: number) => new Date(NOON.getTime() + milliseconds);

onBothDatabases((engine) => {
  const queue = new JobQueue();
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());

  const run = <T>(work: (tx: Tx) => Promise<T>) => db.transactions.system("job queue", work);
  const enqueue = (kind: string, job: Partial<NewJob> = {}) =>
    run((tx) =>
      queue.enqueue(
        { kind, dedupeKey: v7(), orgId: null, payload: {}, runAt: NOON, ...job },
        NOON,
        tx,
      ),
    );
  const claim = (kind: string, at = NOON) => run((tx) => queue.claim([kind], at, LEASE_MS, tx));
  const rowsOf = (kind: string) =>
    run((tx) => tx.select().from(jobs).where(eq(jobs.kind, kind)).orderBy(jobs.runAt, jobs.id));

  test("500 jobs and three claimers: each job is taken once, and all are done", async () => {
    await run(async (tx) => {
      for (let n = 0; n < 500; n++) {
        const job = {
          kind: "many",
          dedupeKey: String(n),
          orgId: null,
          payload: { n },
          runAt: NOON,
        };
        await queue.enqueue(job, NOON, tx);
      }
    });
    const taken: string[] = [];
    const claimer = async () => {
      for (let job = await claim("many"); job; job = await claim("many")) {
        const mine = job;
        taken.push(mine.payload);
        await run((tx) => queue.complete(mine, NOON, tx));
      }
    };
    await Promise.all([claimer(), claimer(), claimer()]);
    expect(taken).toHaveLength(500);
    expect(new Set(taken).size).toBe(500);
    expect((await rowsOf("many")).every(({ state }) => state === "done")).toBe(true);
  });

  test("claimers at once get different jobs", async () => {
    for (let n = 0; n < 5; n++) await enqueue("apart");
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claim("apart")));
    const ids = claimed.flatMap((job) => job?.id ?? []);
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
  });

  // The embedded database has one connection: there no two claims are open at once.
  test.skipIf(engine === "embedded")(
    "a claim passes by a job whose claim is not committed yet, rather than wait",
    async () => {
      for (const payload of ["first", "second"]) await enqueue("open", { payload });
      const [claimed, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const open = run(async (tx) => {
        const job = await queue.claim(["open"], NOON, LEASE_MS, tx);
        claimed.resolve();
        await finish.promise;
        return job;
      });
      await claimed.promise;
      expect((await claim("open"))?.payload).toBe('"second"');
      finish.resolve();
      expect((await open)?.payload).toBe('"first"');
    },
  );

  test("the oldest due job comes first; what is not due and what is of another kind does not come", async () => {
    await enqueue("order", { runAt: after(1), payload: "later" });
    await enqueue("order", { runAt: after(-2), payload: "first" });
    await enqueue("order", { runAt: NOON, payload: "second" });
    await enqueue("other");
    const order = [await claim("order"), await claim("order"), await claim("order")];
    expect(order.map((job) => job?.payload)).toEqual(['"first"', '"second"', undefined]);
    expect((await claim("order", after(1)))?.payload).toBe('"later"');
  });

  test("one kind and key is queued once for ever: by 20 at once, while it runs and after it is done", async () => {
    const once = { dedupeKey: "slot" };
    await Promise.all(Array.from({ length: 20 }, () => enqueue("once", once)));
    const job = (await claim("once")) as ClaimedJob;
    await enqueue("once", once);
    await run((tx) => queue.complete(job, NOON, tx));
    await enqueue("once", once);
    expect(await rowsOf("once")).toHaveLength(1);
    await enqueue("once", { dedupeKey: "slot-2" });
    expect(await rowsOf("once")).toHaveLength(2);
  });

  test("a job queued in a transaction that fails was never queued", async () => {
    const failed = run(async (tx) => {
      const job = { kind: "undone", dedupeKey: "1", orgId: null, payload: {}, runAt: NOON };
      await queue.enqueue(job, NOON, tx);
      throw new Error("undone");
    });
    await expect(failed).rejects.toThrow("undone");
    expect(await rowsOf("undone")).toEqual([]);
  });

  test("a job whose process died comes back when its lease is over, and the dead one cannot end it any more", async () => {
    await enqueue("lease");
    const first = (await claim("lease")) as ClaimedJob;
    expect(await claim("lease", after(LEASE_MS))).toBeUndefined();
    const second = (await claim("lease", after(LEASE_MS + 1))) as ClaimedJob;
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    await run((tx) => queue.complete(first, after(LEASE_MS + 2), tx));
    await run((tx) => queue.fail(first, "Error", after(LEASE_MS + 2), tx));
    expect(await rowsOf("lease")).toMatchObject([
      { state: "running", attempts: 2, lastError: null },
    ]);
    await run((tx) => queue.complete(second, after(LEASE_MS + 3), tx));
    expect(await rowsOf("lease")).toMatchObject([
      { state: "done", leaseUntil: null, finishedAt: after(LEASE_MS + 3) },
    ]);
  });

  test("a failed job waits twice as long each time, up to an hour, and is dead after eight attempts", async () => {
    await enqueue("failing");
    const waits: number[] = [];
    let at = NOON;
    for (let attempt = 1; attempt <= 8; attempt++) {
      const job = (await claim("failing", at)) as ClaimedJob;
      expect(job.attempts).toBe(attempt);
      const now = at;
      const state = await run((tx) => queue.fail(job, "TypeError", now, tx));
      expect(state).toBe(attempt === 8 ? "dead" : "queued");
      const [row] = await rowsOf("failing");
      waits.push(Number(row?.runAt.getTime()) - now.getTime());
      const next = row?.runAt ?? now;
      expect(await claim("failing", new Date(next.getTime() - 1))).toBeUndefined();
      at = next;
    }
    expect(waits.slice(0, 7)).toEqual(
      [5, 10, 20, 40, 80, 160, 320].map((seconds) => seconds * 1000),
    );
    expect(await claim("failing", new Date("2036-01-01T00:00:00Z"))).toBeUndefined();
    expect(await rowsOf("failing")).toMatchObject([
      { state: "dead", lastError: "TypeError", leaseUntil: null },
    ]);
  });
});
