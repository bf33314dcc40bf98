import { expect, test } from "vitest";
import type { JobHandler } from "../../src/jobs/handler.ts";
import { pruneJob } from "../../src/jobs/prune.ts";
import { JobRepository } from "../../src/jobs/repository.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { jobsOn } from "./jobs-under-test.ts";

const DAY_MS = 86_400_000;

onBothDatabases((engine) => {
  const { db, enqueue, abandon, jobsOf, runsOf, process } = jobsOn(engine);
  /** A process with these jobs and the one that prunes. */
  const pruning = (clock: TestClock, ...handlers: JobHandler[]) => {
    const all: JobHandler[] = [...handlers];
    all.push(pruneJob(new JobRepository(), db().transactions, clock.now, () => all));
    return process(clock, ...all);
  };

  test("jobs and runs are kept for 30 days after their end, what waits or runs for ever", async () => {
    const clock = new TestClock("2026-03-01T10:50:00.000Z");
    let failing = false;
    const runner = pruning(clock, {
      kind: "kept",
      run: async () => {
        if (failing) throw new Error("no");
      },
    });
    await enqueue("kept", clock);
    await runner.runDue();
    await enqueue("abandoned", clock);
    await abandon("abandoned", clock);
    await enqueue("future", clock, { runAt: new Date("2030-01-01T00:00:00Z") });
    failing = true;
    await enqueue("kept", clock);
    for (let hour = 0; hour < 9; hour++) {
      await runner.runDue();
      clock.advance(3_600_000);
    }
    expect((await jobsOf("kept")).map(({ state }) => state).sort()).toEqual(["dead", "done"]);
    clock.advance(29 * DAY_MS);
    await runner.runDue();
    expect(await jobsOf("kept")).toHaveLength(2);
    clock.advance(DAY_MS);
    await runner.runDue();
    expect(await jobsOf("kept")).toEqual([]);
    expect(await runsOf("kept")).toEqual([]);
    expect(await jobsOf("abandoned")).toHaveLength(1);
    expect(await runsOf("abandoned")).toHaveLength(1);
    expect(await jobsOf("future")).toHaveLength(1);
    const pruned = (await runsOf("jobs.prune")).at(-1)?.counts;
    // Nine of the job under test, nine of the pruning itself in those hours.
    expect(JSON.parse(pruned ?? "null")).toMatchObject({ jobs: 11, runs: 18 });
  });

  test("a slot that was pruned is never queued again: not the yearly one, not by a process that starts, not by one whose clock is behind", async () => {
    const clock = new TestClock("2026-01-01T00:00:01.000Z");
    const ran: string[] = [];
    const handlers = [
      { kind: "yearly", cron: "0 0 1 1 *" },
      { kind: "monthly", cron: "0 0 1 * *" },
      { kind: "daily", cron: "0 0 * * *" },
    ].map(({ kind, cron }) => ({
      kind,
      cron,
      run: async () => void ran.push(`${kind} ${clock.now().toISOString().slice(0, 10)}`),
    }));
    for (let day = 0; day < 100; day++) {
      // Every day another process: none remembers what it queued.
      await pruning(clock, ...handlers).runDue();
      clock.advance(-DAY_MS / 24);
      await pruning(clock, ...handlers).runDue();
      clock.advance(DAY_MS + DAY_MS / 24);
    }
    const of = (kind: string) => ran.filter((one) => one.startsWith(kind));
    expect(of("yearly")).toEqual(["yearly 2026-01-01", "yearly 2025-12-31"]);
    expect(of("monthly").slice(2)).toEqual([2, 3, 4].map((n) => `monthly 2026-0${n}-01`));
    // The first two processes start before there is anything: each makes up for the slot it takes for the last one.
    expect(of("daily")).toHaveLength(101);
    expect((await jobsOf("daily")).length).toBeLessThanOrEqual(32);
  });
});
