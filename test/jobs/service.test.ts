import { expect, test } from "vitest";
import { OPERATOR_KEY_ID, type Principal } from "../../src/access/principal.ts";
import { AuditRepository } from "../../src/audit/repository.ts";
import { AuditService } from "../../src/audit/service.ts";
import type { JobHandler } from "../../src/jobs/handler.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import { JobRepository } from "../../src/jobs/repository.ts";
import { JobQuery, JobService, RunQuery } from "../../src/jobs/service.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { jobsOn } from "./jobs-under-test.ts";

const NOBODY = "0190aaaa-0000-7000-8000-000000000000";

onBothDatabases((engine) => {
  const { db, enqueue, process } = jobsOn(engine);
  const admin = async (): Promise<Principal> => {
    const { orgId } = await db().newOrg();
    return { orgId, keyId: "k", role: "admin", defaultAgent: "atlas", pins: {} };
  };
  const asOperator = (principal: Principal): Principal => ({
    ...principal,
    keyId: OPERATOR_KEY_ID,
    role: "owner",
  });
  /** A server with one kind of job, which fails until it is healed. */
  const server = (kind: string, clock: TestClock, cron?: string) => {
    const state = { healthy: false };
    const handler: JobHandler = {
      kind,
      ...(cron !== undefined && { cron }),
      exclusive: true,
      run: async () => {
        if (!state.healthy) throw new TypeError("no");
        return { done: 1 };
      },
    };
    const runner = process(clock, handler);
    const service = new JobService({
      jobs: new JobRepository(),
      queue: new JobQueue(),
      handlers: [handler],
      runner,
      audit: new AuditService(new AuditRepository(), db().transactions, clock.now),
      transactions: db().transactions,
      clock: clock.now,
    });
    const exhaust = async () => {
      for (let hour = 0; hour < 9; hour++) {
        await runner.runDue();
        clock.advance(3_600_000);
      }
    };
    return { state, runner, service, exhaust };
  };

  test("a dead job is found by its admin, replayed with all its attempts, and runs", async () => {
    const clock = new TestClock();
    const { state, runner, service, exhaust } = server("replayed", clock);
    const mine = await admin();
    await enqueue("replayed", clock, { orgId: mine.orgId, payload: { secret: 1 } });
    await exhaust();
    const { jobs } = await service.list(mine, JobQuery.parse({ state: "dead" }));
    expect(jobs).toMatchObject([
      { kind: "replayed", of: "org", state: "dead", attempts: 8, lastError: "TypeError" },
    ]);
    expect(jobs[0]).not.toHaveProperty("payload");
    const id = String(jobs[0]?.id);
    expect(await service.replay(mine, id)).toMatchObject({ id, state: "queued", attempts: 0 });
    await expect(service.replay(mine, id)).rejects.toMatchObject({ code: "CONFLICT" });
    state.healthy = true;
    expect(await runner.runDue()).toBe(1);
    expect((await service.list(mine, JobQuery.parse({}))).jobs).toMatchObject([{ state: "done" }]);
    const { runs } = await service.runs(mine, RunQuery.parse({ jobId: id }));
    expect(runs).toHaveLength(9);
    expect(runs[0]).toMatchObject({ outcome: "done", attempt: 1, counts: { done: 1 } });
    expect(runs[1]).toMatchObject({ outcome: "failed", attempt: 8, error: "TypeError" });
  });

  test("an admin sees the jobs of the own org alone, the operator the server's too", async () => {
    const clock = new TestClock();
    const { service, exhaust } = server("seen", clock);
    const [mine, theirs] = [await admin(), await admin()];
    for (const orgId of [mine.orgId, theirs.orgId, null]) await enqueue("seen", clock, { orgId });
    await exhaust();
    const query = JobQuery.parse({ kind: "seen" });
    const idsOf = async (by: Principal) => (await service.list(by, query)).jobs.map(({ id }) => id);
    const [own, foreign] = [await idsOf(mine), await idsOf(theirs)];
    expect(own).toHaveLength(1);
    expect(foreign).toHaveLength(1);
    const all = (await service.list(asOperator(mine), query)).jobs;
    expect(all.map((job) => job.of).sort()).toEqual(["org", "server"]);
    expect(all.map(({ id }) => id)).toContain(own[0]);
    const runsOf = async (by: Principal) =>
      (await service.runs(by, RunQuery.parse({ kind: "seen" }))).runs.length;
    expect([await runsOf(mine), await runsOf(asOperator(mine))]).toEqual([8, 16]);

    const servers = String(all.find((job) => job.of === "server")?.id);
    for (const id of [String(foreign[0]), servers, NOBODY, "nonsense"]) {
      const refusal = { code: "NOT_FOUND", message: "no job has this id" };
      await expect(service.replay(mine, id)).rejects.toMatchObject(refusal);
    }
    expect(await service.replay(asOperator(mine), servers)).toMatchObject({ of: "server" });
    await expect(service.replay(asOperator(mine), String(foreign[0]))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("pages are newest first, without gap or overlap where times are equal", async () => {
    const clock = new TestClock();
    const { state, runner, service } = server("paged", clock);
    state.healthy = true;
    const mine = await admin();
    for (let n = 0; n < 7; n++) {
      await enqueue("paged", clock, { orgId: mine.orgId });
      if (n % 3 === 2) clock.advance(1);
    }
    await runner.runDue();
    const pagesOf = async (read: (before?: string) => Promise<[string[], string | null]>) => {
      const ids: string[] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const page = await read(before);
        ids.push(...page[0]);
        before = page[1];
      }
      return ids;
    };
    const jobs = await pagesOf(async (before) => {
      const page = await service.list(mine, JobQuery.parse({ before, limit: "2" }));
      return [page.jobs.map(({ id }) => id), page.nextBefore];
    });
    const runs = await pagesOf(async (before) => {
      const page = await service.runs(mine, RunQuery.parse({ before, limit: "2" }));
      return [page.runs.map(({ id }) => id), page.nextBefore];
    });
    const [allJobs, allRuns] = [
      (await service.list(mine, JobQuery.parse({}))).jobs,
      (await service.runs(mine, RunQuery.parse({}))).runs,
    ];
    expect(allJobs).toHaveLength(7);
    expect(jobs).toEqual(allJobs.map(({ id }) => id));
    expect(runs).toEqual(allRuns.map(({ id }) => id));
    const times = allJobs.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    for (const before of ["x", "1.x", `${"9".repeat(20)}.${NOBODY}`, `-1.${NOBODY}`]) {
      const bad = service.list(mine, JobQuery.parse({ before }));
      await expect(bad).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
  });

  test("members and pinned keys see no jobs; only owners run one over all orgs", async () => {
    const clock = new TestClock();
    const { state, service } = server("owned", clock);
    state.healthy = true;
    const mine = await admin();
    const pinned: Principal = { ...mine, role: "owner", pins: { agentId: "maya" } };
    for (const by of [{ ...mine, role: "member" } as const, pinned]) {
      for (const attempt of [
        () => service.list(by, JobQuery.parse({})),
        () => service.runs(by, RunQuery.parse({})),
        () => service.replay(by, NOBODY),
        () => service.runNow(by, "owned"),
      ]) {
        await expect(attempt()).rejects.toMatchObject({ code: "FORBIDDEN" });
      }
    }
    await expect(service.runNow(mine, "owned")).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await service.runNow({ ...mine, role: "owner" }, "owned")).toEqual({ done: 1 });
    expect(await service.runNow(asOperator(mine), "owned")).toEqual({ done: 1 });
  });

  test("an owner sees what runs when, and how it went last, and starts it before its time", async () => {
    const clock = new TestClock();
    const { state, runner, service } = server("scheduled", clock, "0 3 * * *");
    const mine = { ...(await admin()), role: "owner" } as const;
    const [scheduled] = await service.schedule(mine);
    expect(scheduled).toMatchObject({ kind: "scheduled", cron: "0 3 * * *", last: null });
    expect(scheduled?.nextAt).toMatch(/T03:00:00\.000Z$/);
    state.healthy = true;
    await runner.runDue();
    await service.start(mine, "scheduled");
    await service.start(mine, "scheduled");
    expect(await runner.runDue()).toBe(1);
    const last = { outcome: "done", counts: { done: 1 } };
    expect(await service.schedule(asOperator(mine))).toMatchObject([{ last }]);
    // There are other orgs: the runs of jobs that go over all of them are not for one's owner.
    expect(await service.schedule(mine)).toMatchObject([{ last: null }]);
    await expect(service.start(mine, "unknown")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const asAdmin = { ...mine, role: "admin" } as const;
    await expect(service.start(asAdmin, "scheduled")).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});
