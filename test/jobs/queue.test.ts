import { expect, test } from "vitest";
import type { ClaimedJob, NewJob } from "../../src/jobs/queue.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { jobsOn, LEASE_MS } from "./jobs-under-test.ts";

const clock = new TestClock("2026-03-01T12:00:00.000Z");
const NOON = clock.now();
const after = (milliseconds: number) => new Date(NOON.getTime() + milliseconds);

onBothDatabases((engine) => {
  const { queue, leases, run, jobsOf, ...jobs } = jobsOn(engine);
  const enqueue = (kind: string, job: Partial<NewJob> = {}) => jobs.enqueue(kind, clock, job);
  const claim = (kind: string, at = NOON, exclusive?: true) =>
    run((tx) => queue.claim([{ kind, ...(exclusive && { exclusive }) }], at, LEASE_MS, tx));
  const complete = (job: ClaimedJob, at = NOON) =>
    run((tx) => leases.complete(job, undefined, at, tx));
  const takeBack = (kind: string, at: Date) =>
    run((tx) => leases.takeBack([kind], at, LEASE_MS, tx));

  test("200 jobs and three claimers: each job is taken once, and all are done", async () => {
    await run(async (tx) => {
      for (let n = 0; n < 200; n++) {
        const job = { kind: "many", dedupeKey: String(n), orgId: null, payload: { n } };
        await queue.enqueue({ ...job, runAt: NOON }, NOON, tx);
      }
    });
    const taken: string[] = [];
    const claimer = async () => {
      for (let job = await claim("many"); job; job = await claim("many")) {
        taken.push(job.payload);
        await complete(job);
      }
    };
    await Promise.all([claimer(), claimer(), claimer()]);
    expect(taken).toHaveLength(200);
    expect(new Set(taken).size).toBe(200);
    expect((await jobsOf("many")).every(({ state }) => state === "done")).toBe(true);
  });

  test("claimers at once get different jobs", async () => {
    for (let n = 0; n < 5; n++) await enqueue("apart");
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claim("apart")));
    const ids = claimed.flatMap((job) => job?.id ?? []);
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
  });

  test("of an exclusive kind one job is taken at a time, by however many at once", async () => {
    for (let n = 0; n < 4; n++) await enqueue("single");
    for (let round = 0; round < 4; round++) {
      const claims = Array.from({ length: 8 }, () => claim("single", NOON, true));
      const claimed = (await Promise.all(claims)).filter((job) => job !== undefined);
      expect(claimed).toHaveLength(1);
      await complete(claimed[0] as ClaimedJob);
    }
    expect(await claim("single", NOON, true)).toBeUndefined();
  });

  test("an exclusive kind that runs holds no other kind up", async () => {
    for (const kind of ["busy", "busy", "other"]) await enqueue(kind);
    const handlers = [{ kind: "busy", exclusive: true } as const, { kind: "other" }];
    const next = () => run((tx) => queue.claim(handlers, NOON, LEASE_MS, tx));
    const kinds = [await next(), await next(), await next()].map((job) => job?.kind);
    expect(kinds).toEqual(["busy", "other", undefined]);
  });

  // The embedded database has one connection: there no two claims are open at once.
  test.skipIf(engine === "embedded")(
    "a claim passes by a job whose claim is not committed yet, rather than wait",
    async () => {
      for (const payload of ["first", "second"]) await enqueue("open", { payload });
      const [claimed, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const open = run(async (tx) => {
        const job = await queue.claim([{ kind: "open" }], NOON, LEASE_MS, tx);
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

  test("one kind and key is queued once: by 20 at once, while it runs and after it is done", async () => {
    const once = { dedupeKey: "slot" };
    await Promise.all(Array.from({ length: 20 }, () => enqueue("once", once)));
    const job = (await claim("once")) as ClaimedJob;
    await enqueue("once", once);
    await complete(job);
    await enqueue("once", once);
    expect(await jobsOf("once")).toHaveLength(1);
    await enqueue("once", { dedupeKey: "slot-2" });
    expect(await jobsOf("once")).toHaveLength(2);
  });

  test("a job queued in a transaction that fails was never queued", async () => {
    const failed = run(async (tx) => {
      const job = { kind: "undone", dedupeKey: "1", orgId: null, payload: {}, runAt: NOON };
      await queue.enqueue(job, NOON, tx);
      throw new Error("undone");
    });
    await expect(failed).rejects.toThrow("undone");
    expect(await jobsOf("undone")).toEqual([]);
  });

  test("a job whose process died comes back when its lease is over, and the dead one changes nothing any more", async () => {
    await enqueue("lease");
    const first = (await claim("lease")) as ClaimedJob;
    expect(await takeBack("lease", after(LEASE_MS))).toEqual([]);
    expect(await claim("lease", after(LEASE_MS))).toBeUndefined();
    expect(await takeBack("lease", after(LEASE_MS + 1))).toMatchObject([{ id: first.id }]);
    const second = (await claim("lease", after(LEASE_MS + 1))) as ClaimedJob;
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    const late = after(LEASE_MS + 2);
    expect(await complete(first, late)).toBe(false);
    expect(await run((tx) => leases.renew(first, late, LEASE_MS, tx))).toBe(false);
    expect(await run((tx) => leases.fail(first, "Error", undefined, late, tx))).toBe("lost");
    expect(await run((tx) => leases.postpone(first, "Error", late, tx))).toBe(false);
    expect(await run((tx) => leases.release(first, late, tx))).toBe(false);
    expect(await jobsOf("lease")).toMatchObject([
      {
        state: "running",
        attempts: 2,
        lastError: "LeaseLost",
        leaseUntil: after(2 * LEASE_MS + 1),
      },
    ]);
    expect(await complete(second, late)).toBe(true);
    expect(await jobsOf("lease")).toMatchObject([
      { state: "done", leaseUntil: null, finishedAt: late, lastError: null },
    ]);
  });

  test("a job that came back to life with the same attempt number is not ended by the process that lost it", async () => {
    await enqueue("again");
    const stale = (await claim("again")) as ClaimedJob;
    await takeBack("again", after(LEASE_MS + 1));
    const second = (await claim("again", after(LEASE_MS + 1))) as ClaimedJob;
    await run((tx) => leases.postpone(second, "RetryLater", NOON, tx));
    const postponedAgain = (await claim("again")) as ClaimedJob;
    await run((tx) => leases.postpone({ ...postponedAgain }, "RetryLater", NOON, tx));
    expect((await jobsOf("again"))[0]).toMatchObject({ state: "queued", attempts: 1 });
    const current = (await claim("again")) as ClaimedJob;
    expect(current.attempts).toBe(2);
    expect(await complete({ ...stale, attempts: 2 })).toBe(false);
    expect(await complete(current)).toBe(true);
  });

  test("since when the oldest due job waits is known", async () => {
    const before = after(-86_400_000);
    expect(await run((tx) => queue.oldestDue(before, tx))).toBeUndefined();
    await enqueue("waiting", { runAt: after(-90_000_000) });
    await enqueue("waiting", { runAt: after(-88_000_000) });
    expect(await run((tx) => queue.oldestDue(before, tx))).toEqual(after(-90_000_000));
  });
});
