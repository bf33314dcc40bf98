import { expect, test } from "vitest";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { heldHandler, jobsOn, LEASE_MS } from "./jobs-under-test.ts";

onBothDatabases((engine) => {
  const { enqueue, abandon, jobsOf, runsOf, process } = jobsOn(engine);
  const exclusive = true;

  test("a job that is run now runs here at once, is recorded, and its counts are the answer", async () => {
    const clock = new TestClock();
    const runner = process(clock, { kind: "now", exclusive, run: async () => ({ merged: 3 }) });
    expect(await runner.runNow("now")).toEqual({ merged: 3 });
    expect(await runner.runNow("now")).toEqual({ merged: 3 });
    expect((await jobsOf("now")).map(({ state }) => state)).toEqual(["done", "done"]);
    expect(await runsOf("now")).toMatchObject([
      { outcome: "done", counts: '{"merged":3}' },
      { outcome: "done" },
    ]);
    expect(await runner.runDue()).toBe(0);
  });

  test("while one runs in any process, another one is refused as busy and nothing is queued", async () => {
    const clock = new TestClock();
    const held = heldHandler("busy", { exclusive });
    const [here, there] = [process(clock, held.handler), process(clock, held.handler)];
    const running = here.runNow("busy");
    await held.started;
    const refusal = {
      code: "CONFLICT",
      message: expect.stringMatching(/^busy is running already/),
    };
    for (const runner of [here, there]) {
      await expect(runner.runNow("busy")).rejects.toMatchObject(refusal);
    }
    await enqueue("busy", clock);
    expect(await there.runDue()).toBe(0);
    held.finish();
    expect(await running).toEqual({});
    expect(await there.runDue()).toBe(1);
    expect(held.calls).toBe(2);
    expect(await jobsOf("busy")).toHaveLength(2);
  });

  test("of ten processes at once one runs it, and nine are told that they are too late", async () => {
    const clock = new TestClock();
    const held = heldHandler("race", { exclusive });
    let refused = 0;
    const calls = Array.from({ length: 10 }, () => process(clock, held.handler)).map((one) =>
      one.runNow("race").catch((error: { code?: string }) => {
        expect(error.code).toBe("CONFLICT");
        refused++;
      }),
    );
    await expect.poll(() => refused).toBe(9);
    held.finish();
    await Promise.all(calls);
    expect(held.calls).toBe(1);
    expect(await runsOf("race")).toMatchObject([{ outcome: "done" }]);
  });

  test("a run that was lost with its process does not count as running", async () => {
    const clock = new TestClock();
    const runner = process(clock, { kind: "lost", exclusive, run: async () => ({ n: 1 }) });
    await enqueue("lost", clock);
    await abandon("lost", clock);
    await expect(runner.runNow("lost")).rejects.toMatchObject({ code: "CONFLICT" });
    clock.advance(LEASE_MS + 1);
    expect(await runner.runNow("lost")).toEqual({ n: 1 });
    expect(await runner.runDue()).toBe(1);
  });

  test("what its handler throws reaches the caller, and the job is tried again as any other", async () => {
    const clock = new TestClock();
    let healthy = false;
    const runner = process(clock, {
      kind: "failing-now",
      exclusive,
      run: async () => {
        if (!healthy) throw new RangeError("why");
      },
    });
    await expect(runner.runNow("failing-now")).rejects.toThrow("why");
    expect(await jobsOf("failing-now")).toMatchObject([{ state: "queued", attempts: 1 }]);
    healthy = true;
    clock.advance(5_000);
    expect(await runner.runDue()).toBe(1);
  });

  test("a stop interrupts it and says so; after the stop none begins", async () => {
    const clock = new TestClock();
    const started = Promise.withResolvers<void>();
    const runner = process(clock, {
      kind: "stopped-now",
      exclusive,
      run: (_job, { signal }) => {
        started.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    });
    const running = runner.runNow("stopped-now");
    await started.promise;
    const [result] = await Promise.allSettled([running, runner.stop()]);
    expect(result).toMatchObject({ reason: { code: "UNAVAILABLE" } });
    await expect(runner.runNow("stopped-now")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await jobsOf("stopped-now")).toMatchObject([{ state: "queued", attempts: 0 }]);
  });

  test("only exclusive kinds can be run now", async () => {
    const runner = process(new TestClock(), { kind: "plain", run: async () => {} });
    await expect(runner.runNow("plain")).rejects.toThrow("no exclusive job is called plain");
    await expect(runner.runNow("unknown")).rejects.toThrow("unknown");
  });
});
