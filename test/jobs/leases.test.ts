import { afterEach, expect, test, vi } from "vitest";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { BEAT_MS, heldHandler, jobsOn, LEASE_MS, POLL_MS } from "./jobs-under-test.ts";

onBothDatabases((engine) => {
  const { enqueue, abandon, jobsOf, runsOf, process, ...jobs } = jobsOn(engine);
  afterEach(() => {
    vi.useRealTimers();
  });
  const beatTimers = () => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });

  test("a process that is killed loses its job to another one when the lease is over, and the run log says so", async () => {
    const clock = new TestClock();
    let ran = 0;
    const survivor = process(clock, {
      kind: "killed",
      exclusive: true,
      run: async () => {
        ran++;
      },
    });
    await enqueue("killed", clock);
    await enqueue("killed", clock, { runAt: new Date(clock.now().getTime() + 1) });
    const job = await abandon("killed", clock);
    clock.advance(LEASE_MS);
    expect(await survivor.runDue()).toBe(0);
    clock.advance(1);
    expect(await survivor.runDue()).toBe(2);
    expect(ran).toBe(2);
    const runs = (await runsOf("killed")).filter(({ jobId }) => jobId === job?.id);
    expect(runs).toMatchObject([
      { attempt: 1, outcome: "lost", error: "LeaseLost", finishedAt: clock.now() },
      { attempt: 2, outcome: "done", error: null },
    ]);
    expect(survivor.ended).toEqual(["killed lost", "killed done", "killed done"]);
  });

  test("a job that takes its process down every time is laid aside, without a ninth victim", async () => {
    const clock = new TestClock();
    let ran = 0;
    const dead: string[] = [];
    const survivor = process(clock, {
      kind: "deadly",
      run: async () => {
        ran++;
      },
      onDead: async ({ id }) => void dead.push(id),
    });
    await enqueue("deadly", clock);
    for (let victim = 1; victim <= 8; victim++) {
      const job = await abandon("deadly", clock);
      expect(job?.attempts).toBe(victim);
      clock.advance(LEASE_MS + 1);
      if (victim < 8) {
        await jobs.run((tx) => jobs.leases.takeBack(["deadly"], clock.now(), LEASE_MS, tx));
      }
    }
    await survivor.runDue();
    expect(ran).toBe(0);
    const [job] = await jobsOf("deadly");
    expect(job).toMatchObject({ state: "dead", lastError: "LeaseLost", leaseUntil: null });
    expect(dead).toEqual([job?.id]);
    expect((await runsOf("deadly")).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 8 }, () => "lost"),
    );
  });

  test("a job that runs longer than its lease keeps it by its heartbeat", async () => {
    const clock = new TestClock();
    beatTimers();
    const long = heldHandler("long");
    const [runner, other] = [process(clock, long.handler), process(clock, long.handler)];
    await enqueue("long", clock);
    const running = runner.runDue();
    await long.started;
    for (let beat = 0; beat < 6; beat++) {
      clock.advance(BEAT_MS);
      const until = new Date(clock.now().getTime() + LEASE_MS);
      vi.advanceTimersByTime(BEAT_MS);
      await expect.poll(async () => (await jobsOf("long"))[0]?.leaseUntil).toEqual(until);
      expect(await other.runDue()).toBe(0);
    }
    long.finish();
    await running;
    expect(await runsOf("long")).toMatchObject([{ outcome: "done", attempt: 1 }]);
  });

  test("a process that stood still hears at its next heartbeat that the job is another's, and cannot end it", async () => {
    const clock = new TestClock();
    beatTimers();
    const stalled = heldHandler("stalled");
    const runner = process(clock, stalled.handler);
    await enqueue("stalled", clock);
    const running = runner.runDue();
    const signal = await stalled.started;
    clock.advance(LEASE_MS + 1);
    const other = process(clock, { kind: "stalled", run: async () => ({ mine: 1 }) });
    expect(await other.runDue()).toBe(1);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(BEAT_MS);
    await expect.poll(() => signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: "LeaseLost" });
    stalled.finish();
    await running;
    expect(await runsOf("stalled")).toMatchObject([
      { attempt: 1, outcome: "lost", counts: null },
      { attempt: 2, outcome: "done", counts: '{"mine":1}' },
    ]);
    expect(runner.ended).toEqual(["stalled lost"]);
  });

  test("a process that stood still and takes its own job back ends the old attempt before it begins the new one", async () => {
    const clock = new TestClock();
    let running = 0;
    let most = 0;
    const started = Promise.withResolvers<void>();
    const runner = process(clock, {
      kind: "own",
      exclusive: true,
      run: (job, { signal }) => {
        most = Math.max(most, ++running);
        started.resolve();
        return new Promise<void>((resolve, reject) => {
          const end = () => {
            running--;
            if (job.attempts === 1) reject(signal.reason as Error);
            else resolve();
          };
          if (job.attempts === 1) signal.addEventListener("abort", end);
          else end();
        });
      },
    });
    await enqueue("own", clock);
    const first = runner.runDue();
    await started.promise;
    clock.advance(LEASE_MS + 1);
    await Promise.all([first, runner.runDue()]);
    expect(most).toBe(1);
    expect((await runsOf("own")).map(({ outcome }) => outcome)).toEqual(["lost", "done"]);
  });

  test("a stop asks what runs to end, gives it back without costing an attempt and leaves the rest to others", async () => {
    const clock = new TestClock();
    const started = Promise.withResolvers<void>();
    const runner = process(clock, {
      kind: "polite",
      exclusive: true,
      run: (_job, { signal }) => {
        started.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    });
    for (let n = 0; n < 3; n++) await enqueue("polite", clock);
    beatTimers();
    runner.start();
    vi.advanceTimersByTime(POLL_MS);
    await started.promise;
    await runner.stop();
    expect((await jobsOf("polite")).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array.from({ length: 3 }, () => ["queued", 0]),
    );
    expect(await runsOf("polite")).toMatchObject([{ outcome: "lost", error: "Stopped" }]);
    expect(await runner.runDue()).toBe(0);
    const other = process(clock, { kind: "polite", run: async () => {} });
    expect(await other.runDue()).toBe(3);
  });

  test("a stop waits four seconds for a handler that ignores it, and the lease makes that safe", async () => {
    const clock = new TestClock();
    const deaf = heldHandler("deaf");
    const runner = process(clock, deaf.handler);
    await enqueue("deaf", clock);
    const running = runner.runDue();
    const signal = await deaf.started;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let isStopped = false;
    const stopped = runner.stop().then(() => {
      isStopped = true;
    });
    expect(signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(3_999);
    expect(isStopped).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await stopped;
    vi.useRealTimers();
    expect(await jobsOf("deaf")).toMatchObject([{ state: "running" }]);
    clock.advance(LEASE_MS + 1);
    expect(await process(clock, { kind: "deaf", run: async () => {} }).runDue()).toBe(1);
    deaf.finish();
    await running;
    expect((await runsOf("deaf")).map(({ outcome }) => outcome)).toEqual(["lost", "done"]);
  });
});
