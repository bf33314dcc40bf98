import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { jobs } from "../../src/db/schema/jobs.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import { type JobHandler, JobRunner } from "../../src/jobs/runner.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const LEASE_MS = 600_000;
const POLL_MS = 5_000;

onBothDatabases((engine) => {
  const queue = new JobQueue();
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A process that runs these jobs, and what it logged. */
  const runnerOf = (clock: TestClock, ...handlers: JobHandler[]) => {
    const logged: { level: string; fields: Record<string, unknown> }[] = [];
    const log = {
      info: (fields: object) => logged.push({ level: "info", fields: { ...fields } }),
      error: (fields: object) => logged.push({ level: "error", fields: { ...fields } }),
    };
    const { transactions } = db;
    const runner = new JobRunner({ queue, transactions, handlers, clock: clock.now, log });
    return Object.assign(runner, { logged });
  };
  const enqueue = (
    kind: string,
    dedupeKey: string,
    clock: TestClock,
    orgId: string | null = null,
  ) =>
    db.transactions.system("job queue", (tx) =>
      queue.enqueue(
        { kind, dedupeKey, orgId, payload: { n: dedupeKey }, runAt: clock.now() },
        clock.now(),
        tx,
      ),
    );
  const rowsOf = (kind: string) =>
    db.transactions.system("job queue", (tx) =>
      tx.select().from(jobs).where(eq(jobs.kind, kind)).orderBy(jobs.createdAt, jobs.id),
    );

  test("three processes run an hourly and a daily job once in each hour and day", async () => {
    const clock = new TestClock("2026-03-01T22:30:00.000Z");
    const ran: string[] = [];
    const handler = (kind: string, every: "hour" | "day"): JobHandler => ({
      kind,
      every,
      run: async () => {
        ran.push(kind);
      },
    });
    const handlers = [handler("hourly", "hour"), handler("daily", "day")];
    const processes = [1, 2, 3].map(() => runnerOf(clock, ...handlers));
    const everybody = async () => {
      ran.length = 0;
      for (let round = 0; round < 2; round++) {
        await Promise.all(processes.map((process) => process.runDue()));
      }
      return ran.sort();
    };
    expect(await everybody()).toEqual(["daily", "hourly"]);
    clock.advance(29 * 60_000);
    expect(await everybody()).toEqual([]);
    clock.advance(60_000);
    expect(await everybody()).toEqual(["hourly"]);
    clock.advance(3_600_000);
    expect(await everybody()).toEqual(["daily", "hourly"]);
  });

  test("three processes share 60 jobs, and each job runs once", async () => {
    const clock = new TestClock();
    const ran: string[] = [];
    const handler = {
      kind: "shared",
      run: async ({ payload }: { payload: string }) => {
        ran.push(payload);
      },
    };
    for (let n = 0; n < 60; n++) await enqueue("shared", String(n), clock);
    const counts = await Promise.all([1, 2, 3].map(() => runnerOf(clock, handler).runDue()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(60);
    expect(new Set(ran).size).toBe(60);
    expect(ran).toHaveLength(60);
  });

  test("a job that fails is tried again later, and what is behind it runs meanwhile", async () => {
    const clock = new TestClock();
    let healthy = false;
    const ran: string[] = [];
    const runner = runnerOf(clock, {
      kind: "flaky",
      run: async ({ payload }) => {
        if (payload.includes("bad") && !healthy) throw new TypeError("a text that is not logged");
        ran.push(payload);
      },
    });
    await enqueue("flaky", "bad", clock);
    await enqueue("flaky", "good", clock);
    expect(await runner.runDue()).toBe(2);
    expect(ran).toEqual(['{"n":"good"}']);
    expect(await rowsOf("flaky")).toMatchObject([
      { state: "queued", attempts: 1, lastError: "TypeError" },
      { state: "done", attempts: 1, lastError: null },
    ]);
    healthy = true;
    expect(await runner.runDue()).toBe(0);
    clock.advance(5_000);
    expect(await runner.runDue()).toBe(1);
    expect(await rowsOf("flaky")).toMatchObject([
      { state: "done", attempts: 2, lastError: null },
      {},
    ]);
  });

  test("a job that fails every time is laid aside after eight attempts, once and visibly", async () => {
    const clock = new TestClock();
    const runner = runnerOf(clock, {
      kind: "hopeless",
      run: () => Promise.reject(new Error("never")),
    });
    await enqueue("hopeless", "1", clock);
    let attempts = 0;
    for (let hour = 0; hour < 20; hour++) {
      attempts += await runner.runDue();
      clock.advance(3_600_000);
    }
    expect(attempts).toBe(8);
    expect(await rowsOf("hopeless")).toMatchObject([{ state: "dead", lastError: "Error" }]);
    const told = runner.logged.filter(({ fields }) => fields.state === "dead");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ level: "error", fields: { kind: "hopeless", attempt: 8 } });
  });

  test("a job that takes its process down every time is laid aside too, without a ninth victim", async () => {
    const clock = new TestClock();
    let ran = 0;
    const survivor = runnerOf(clock, {
      kind: "deadly",
      run: async () => {
        ran++;
      },
    });
    await enqueue("deadly", "1", clock);
    for (let victim = 1; victim <= 8; victim++) {
      // The process claims the job and is never heard of again.
      const job = await db.transactions.system("job queue", (tx) =>
        queue.claim(["deadly"], clock.now(), LEASE_MS, tx),
      );
      expect(job?.attempts).toBe(victim);
      clock.advance(LEASE_MS + 1);
    }
    await survivor.runDue();
    expect(ran).toBe(0);
    expect(await rowsOf("deadly")).toMatchObject([{ state: "dead", lastError: "LeaseLost" }]);
  });

  test("a handler may use transactions of its own", async () => {
    const clock = new TestClock();
    const org = await db.newOrg();
    let seen: number | undefined;
    await enqueue("transacting", "1", clock, org.orgId);
    await runnerOf(clock, {
      kind: "transacting",
      run: ({ orgId }) =>
        db.transactions.tenant({ orgId: orgId ?? "" }, async (tx) => {
          seen = (await tx.select().from(jobs)).length;
        }),
    }).runDue();
    expect(seen).toBe(1);
  });

  test("stop() waits for the job that runs, and leaves what is behind it to others", async () => {
    const clock = new TestClock();
    const ran: string[] = [];
    let finish = () => {};
    const started = Promise.withResolvers<void>();
    const runner = runnerOf(clock, {
      kind: "long",
      run: async ({ payload }) => {
        started.resolve();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        ran.push(payload);
      },
    });
    for (const n of ["1", "2", "3"]) await enqueue("long", n, clock);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    runner.start();
    vi.advanceTimersByTime(POLL_MS);
    await started.promise;
    let isStopped = false;
    const stopped = runner.stop().then(() => {
      isStopped = true;
    });
    await db.newOrg();
    expect(isStopped).toBe(false);
    finish();
    await stopped;
    expect(ran).toEqual(['{"n":"1"}']);
    expect((await rowsOf("long")).map(({ state }) => state)).toEqual(["done", "queued", "queued"]);
    expect(await runner.runDue()).toBe(0);
  });

  test("a process that cannot look for jobs says so and looks again, and never twice at once", async () => {
    const clock = new TestClock();
    let broken = true;
    let ran = 0;
    const runner = runnerOf(clock, {
      kind: "slot",
      get every(): "hour" {
        if (broken) throw new Error("not now");
        return "hour";
      },
      run: async () => {
        ran++;
      },
    });
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    runner.start();
    vi.advanceTimersByTime(POLL_MS);
    await expect.poll(() => runner.logged.length).toBe(1);
    expect(runner.logged[0]?.level).toBe("error");
    broken = false;
    vi.advanceTimersByTime(3 * POLL_MS);
    await expect.poll(() => ran).toBe(1);
    await runner.stop();
    vi.advanceTimersByTime(3 * POLL_MS);
    expect(ran).toBe(1);
    expect(runner.logged).toHaveLength(2);
  });
});
