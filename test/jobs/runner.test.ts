import { afterEach, expect, test, vi } from "vitest";
import { jobs as jobsTable } from "../../src/db/schema/jobs.ts";
import type { JobHandler } from "../../src/jobs/handler.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { heldHandler, jobsOn, POLL_MS } from "./jobs-under-test.ts";

const HOUR_MS = 3_600_000;

onBothDatabases((engine) => {
  const { enqueue, jobsOf, runsOf, process, ...jobs } = jobsOn(engine);
  afterEach(() => {
    vi.useRealTimers();
  });
  const pollTimers = () => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });

  test("two processes over 60 ticks of a pattern of every second: each slot runs once and is recorded once", async () => {
    const clock = new TestClock("2026-03-01T23:59:30.000Z");
    const ran: string[] = [];
    const handler: JobHandler = {
      kind: "ticking",
      cron: "* * * * * *",
      run: async () => {
        ran.push(clock.now().toISOString());
        return { ticks: 1 };
      },
    };
    const processes = [process(clock, handler), process(clock, handler)];
    const ticks: string[] = [];
    for (let tick = 0; tick < 60; tick++) {
      ticks.push(clock.now().toISOString());
      await Promise.all(processes.map((one) => one.runDue()));
      clock.advance(1_000);
    }
    expect(ran).toEqual(ticks);
    expect((await jobsOf("ticking")).map(({ dedupeKey }) => dedupeKey)).toEqual(ticks);
    const runs = await runsOf("ticking");
    expect(runs.map(({ startedAt }) => startedAt.toISOString())).toEqual(ticks);
    for (const run of runs) {
      expect(run).toMatchObject({
        outcome: "done",
        attempt: 1,
        counts: '{"ticks":1}',
        error: null,
      });
    }
  });

  test("three processes run an hourly and a daily job once in each hour and day", async () => {
    const clock = new TestClock("2026-03-01T22:30:00.000Z");
    const ran: string[] = [];
    const handler = (kind: string, cron: string): JobHandler => ({
      kind,
      cron,
      run: async () => void ran.push(kind),
    });
    const handlers = [handler("hourly", "0 * * * *"), handler("daily", "0 0 * * *")];
    const processes = [1, 2, 3].map(() => process(clock, ...handlers));
    const everybody = async () => {
      ran.length = 0;
      for (let round = 0; round < 2; round++) {
        await Promise.all(processes.map((one) => one.runDue()));
      }
      return ran.sort();
    };
    expect(await everybody()).toEqual(["daily", "hourly"]);
    clock.advance(29 * 60_000);
    expect(await everybody()).toEqual([]);
    clock.advance(60_000);
    expect(await everybody()).toEqual(["hourly"]);
    clock.advance(HOUR_MS);
    expect(await everybody()).toEqual(["daily", "hourly"]);
  });

  test("after a week without a server the last missed slot runs, and not the six before it", async () => {
    const clock = new TestClock("2026-03-01T04:00:00.000Z");
    const handler: JobHandler = { kind: "nightly", cron: "0 3 * * *", run: async () => {} };
    expect(await process(clock, handler).runDue()).toBe(1);
    clock.advance(7 * 24 * HOUR_MS);
    expect(await process(clock, handler).runDue()).toBe(1);
    expect(await process(clock, handler).runDue()).toBe(0);
    expect((await jobsOf("nightly")).map(({ dedupeKey }) => dedupeKey)).toEqual([
      "2026-03-01T03:00:00.000Z",
      "2026-03-08T03:00:00.000Z",
    ]);
  });

  test("three processes share 60 jobs, and each job runs once", async () => {
    const clock = new TestClock();
    const ran: string[] = [];
    const handler: JobHandler = { kind: "shared", run: async ({ id }) => void ran.push(id) };
    for (let n = 0; n < 60; n++) await enqueue("shared", clock);
    const counts = await Promise.all([1, 2, 3].map(() => process(clock, handler).runDue()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(60);
    expect(new Set(ran).size).toBe(60);
    expect(ran).toHaveLength(60);
  });

  test("a slow kind with a long queue takes four lanes at most and never holds another kind back", async () => {
    const clock = new TestClock();
    const slow = heldHandler("slow");
    let quick = 0;
    const runner = process(clock, slow.handler, {
      kind: "quick",
      run: async () => {
        quick++;
      },
    });
    for (let n = 0; n < 8; n++) await enqueue("slow", clock);
    const all = runner.runDue();
    await slow.started;
    await expect.poll(() => slow.calls).toBe(4);
    clock.advance(1);
    await enqueue("quick", clock);
    const more = runner.runDue();
    await expect.poll(() => quick).toBe(1);
    expect(slow.calls).toBe(4);
    slow.finish();
    await Promise.all([all, more]);
    expect(slow.calls).toBe(8);
  });

  test("of an exclusive kind one job runs at a time in all processes together, and all run", async () => {
    const clock = new TestClock();
    let running = 0;
    let most = 0;
    let ran = 0;
    const handler: JobHandler = {
      kind: "alone",
      exclusive: true,
      run: async () => {
        most = Math.max(most, ++running);
        await jobs.run((tx) => tx.select().from(jobsTable).limit(1));
        running--;
        ran++;
      },
    };
    for (let n = 0; n < 10; n++) await enqueue("alone", clock);
    const processes = [1, 2, 3].map(() => process(clock, handler));
    while (ran < 10) await Promise.all(processes.map((one) => one.runDue()));
    expect(most).toBe(1);
    expect(ran).toBe(10);
  });

  test("a job queued by this process starts at once when the runner is woken, without a look of the clock", async () => {
    const clock = new TestClock();
    let ran = 0;
    const runner = process(clock, {
      kind: "woken",
      run: async () => {
        ran++;
      },
    });
    // A command that is over in a moment takes no work on.
    await enqueue("woken", clock);
    runner.wake();
    expect(await process(clock, { kind: "woken", run: async () => {} }).runDue()).toBe(1);

    pollTimers();
    await enqueue("woken", clock);
    runner.start();
    expect(ran).toBe(0);
    runner.wake();
    await expect.poll(() => ran).toBe(1);
    await runner.stop();
    await enqueue("woken", clock);
    runner.wake();
    expect(await runner.runDue()).toBe(0);
  });

  test("a handler may use transactions of its own", async () => {
    const clock = new TestClock();
    const org = await jobs.db().newOrg();
    let seen: number | undefined;
    await enqueue("transacting", clock, { orgId: org.orgId });
    await process(clock, {
      kind: "transacting",
      run: ({ orgId }) =>
        jobs.db().transactions.tenant({ orgId: orgId ?? "" }, async (tx) => {
          seen = (await tx.select().from(jobsTable)).length;
        }),
    }).runDue();
    expect(seen).toBe(1);
    expect(await runsOf("transacting")).toMatchObject([{ orgId: org.orgId, outcome: "done" }]);
  });

  test("a process that cannot look for jobs says so and looks again, and never twice at once", async () => {
    const clock = new TestClock("2026-03-01T10:30:00.000Z");
    let broken = true;
    let ran = 0;
    const runner = process(clock, {
      kind: "slot",
      get cron() {
        if (broken) throw new Error("not now");
        return "0 * * * *";
      },
      run: async () => {
        ran++;
      },
    });
    pollTimers();
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

  test("how long the oldest job has been waiting is told at each look", async () => {
    const clock = new TestClock("2026-01-01T00:00:00.000Z");
    const runner = process(clock, { kind: "counted", run: async () => {} });
    await runner.runDue();
    await enqueue("nobody's", clock);
    clock.advance(90_000);
    await runner.runDue();
    expect(runner.waited).toEqual([0, 90]);
  });
});
