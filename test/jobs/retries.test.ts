import { expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import type { Job } from "../../src/jobs/handler.ts";
import { RetryLater } from "../../src/jobs/retry-later.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { jobsOn } from "./jobs-under-test.ts";

const HOUR_MS = 3_600_000;

onBothDatabases((engine) => {
  const { enqueue, jobsOf, runsOf, process } = jobsOn(engine);

  test("a job that fails is tried again later, and what is behind it runs meanwhile", async () => {
    const clock = new TestClock();
    let healthy = false;
    const ran: string[] = [];
    const runner = process(clock, {
      kind: "flaky",
      run: async ({ payload }) => {
        if (payload.includes("bad") && !healthy) throw new TypeError("a text that is not kept");
        ran.push(payload);
      },
    });
    await enqueue("flaky", clock, { payload: "bad" });
    await enqueue("flaky", clock, { payload: "good" });
    expect(await runner.runDue()).toBe(2);
    expect(ran).toEqual(['"good"']);
    expect(await jobsOf("flaky")).toMatchObject([
      { state: "queued", attempts: 1, lastError: "TypeError" },
      { state: "done", attempts: 1, lastError: null },
    ]);
    healthy = true;
    expect(await runner.runDue()).toBe(0);
    clock.advance(5_000);
    expect(await runner.runDue()).toBe(1);
    expect((await jobsOf("flaky"))[0]).toMatchObject({ state: "done", attempts: 2 });
    const runs = await runsOf("flaky");
    expect(runs.map(({ outcome, error }) => [outcome, error])).toContainEqual([
      "failed",
      "TypeError",
    ]);
    expect(runs).toHaveLength(3);
    expect(runner.ended.sort()).toEqual(["flaky done", "flaky done", "flaky failed"]);
  });

  test("waits double from 5 s, eight failures make a job dead, its handler is told once and people can see it", async () => {
    const clock = new TestClock();
    const dead: Job[] = [];
    const runner = process(clock, {
      kind: "hopeless",
      run: () => Promise.reject(new AppError("UNAVAILABLE", "a text that is not kept")),
      onDead: async (job) => void dead.push(job),
    });
    await enqueue("hopeless", clock, { payload: { turn: 7 } });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt++) {
      expect(dead).toEqual([]);
      expect(await runner.runDue()).toBe(1);
      const [row] = await jobsOf("hopeless");
      waits.push(Number(row?.runAt.getTime()) - clock.now().getTime());
      clock.advance((waits.at(-1) ?? 0) - 1);
      expect(await runner.runDue()).toBe(0);
      clock.advance(1);
    }
    expect(waits.slice(0, 7)).toEqual([5, 10, 20, 40, 80, 160, 320].map((s) => s * 1000));
    clock.advance(100 * HOUR_MS);
    expect(await runner.runDue()).toBe(0);
    expect(dead).toMatchObject([{ kind: "hopeless", attempts: 8, payload: '{"turn":7}' }]);
    expect(await jobsOf("hopeless")).toMatchObject([
      { state: "dead", lastError: "AppError UNAVAILABLE", leaseUntil: null },
    ]);
    const runs = await runsOf("hopeless");
    expect(runs.map(({ attempt, outcome }) => `${attempt} ${outcome}`)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => `${attempt} failed`),
    );
    const told = runner.logged.filter(({ level }) => level === "error");
    expect(told).toMatchObject([{ fields: { kind: "hopeless", attempt: 8, state: "dead" } }]);
    expect(JSON.stringify([runs, await jobsOf("hopeless")])).not.toContain("not kept");
    expect(runner.ended.filter((ended) => ended === "hopeless dead")).toHaveLength(1);
  });

  test("a handler that says when has its way, and what went wrong by nobody's fault costs no attempt", async () => {
    const clock = new TestClock();
    const script = [
      new RetryLater({ at: new Date(clock.now().getTime() + 90_000), countsAsAttempt: true }),
      ...Array.from(
        { length: 10 },
        () => new RetryLater({ at: new Date(0), countsAsAttempt: false, cause: new TypeError() }),
      ),
    ];
    const attempts: number[] = [];
    const runner = process(clock, {
      kind: "later",
      run: async (job) => {
        attempts.push(job.attempts);
        const error = script.shift();
        if (error) throw error;
      },
    });
    await enqueue("later", clock);
    await runner.runDue();
    expect(await jobsOf("later")).toMatchObject([
      { state: "queued", attempts: 1, runAt: new Date(clock.now().getTime() + 90_000) },
    ]);
    clock.advance(90_000);
    // Asked for a time that is over: it is not run again and again within one look.
    for (let n = 0; n < 10; n++) {
      expect(await runner.runDue()).toBe(1);
      clock.advance(1_000);
    }
    expect(await jobsOf("later")).toMatchObject([
      { state: "queued", attempts: 1, lastError: "TypeError" },
    ]);
    await runner.runDue();
    expect(attempts).toEqual([1, ...Array.from({ length: 11 }, () => 2)]);
    const runs = await runsOf("later");
    expect(runs.map(({ outcome, error }) => [outcome, error])).toEqual([
      ["failed", "RetryLater"],
      ["done", null],
    ]);
  });

  test("what giving up throws keeps no job alive", async () => {
    const clock = new TestClock();
    const runner = process(clock, {
      kind: "double-fault",
      run: () => Promise.reject(new Error("no")),
      onDead: () => Promise.reject(new Error("no again")),
    });
    await enqueue("double-fault", clock);
    for (let hour = 0; hour < 9; hour++) {
      await runner.runDue();
      clock.advance(HOUR_MS);
    }
    expect(await jobsOf("double-fault")).toMatchObject([{ state: "dead" }]);
    const messages = runner.logged.filter(({ level }) => level === "error").map((l) => l.message);
    expect(messages).toEqual(["giving up on a job failed", "job failed for the last time"]);
  });
});
