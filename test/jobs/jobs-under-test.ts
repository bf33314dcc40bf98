import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll } from "vitest";
import { jobRuns, jobs } from "../../src/db/schema/jobs.ts";
import type { Tx } from "../../src/db/tenant.ts";
import type { JobHandler } from "../../src/jobs/handler.ts";
import { JobLeases } from "../../src/jobs/leases.ts";
import { JobQueue, type NewJob } from "../../src/jobs/queue.ts";
import { JobRunner } from "../../src/jobs/runner.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import type { TestClock } from "../support/clock.ts";
import type { Engine } from "../support/database.ts";

export const LEASE_MS = 60_000;
export const BEAT_MS = 20_000;
export const POLL_MS = 5_000;

interface Logged {
  readonly level: "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A database for the tests of a file, and processes on it. */
export function jobsOn(engine: Engine) {
  const queue = new JobQueue();
  const leases = new JobLeases();
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());
  const run = <T>(work: (tx: Tx) => Promise<T>) => db.transactions.system("job queue", work);

  return {
    queue,
    leases,
    run,
    db: () => db,
    enqueue(kind: string, clock: TestClock, job: Partial<NewJob> = {}) {
      const now = clock.now();
      const one = { kind, dedupeKey: crypto.randomUUID(), orgId: null, payload: {}, runAt: now };
      return run((tx) => queue.enqueue({ ...one, ...job }, now, tx));
    },
    /** A process that takes a job and is never heard of again. */
    abandon(kind: string, clock: TestClock) {
      return run((tx) => queue.claim([{ kind }], clock.now(), LEASE_MS, tx));
    },
    jobsOf: (kind: string) =>
      run((tx) =>
        tx.select().from(jobs).where(eq(jobs.kind, kind)).orderBy(asc(jobs.createdAt), jobs.id),
      ),
    runsOf: (kind: string) =>
      run((tx) =>
        tx
          .select()
          .from(jobRuns)
          .where(eq(jobRuns.kind, kind))
          .orderBy(asc(jobRuns.startedAt), jobRuns.id),
      ),
    /** A process with these jobs; what it logged and counted. */
    process(clock: TestClock, ...handlers: JobHandler[]) {
      const logged: Logged[] = [];
      const at = (level: Logged["level"]) => (fields: object, message: string) => {
        logged.push({ level, fields: { ...fields }, message });
      };
      const ended: string[] = [];
      const waited: number[] = [];
      const runner = new JobRunner({
        queue,
        leases,
        transactions: db.transactions,
        handlers,
        clock: clock.now,
        log: { info: at("info"), warn: at("warn"), error: at("error") },
        metrics: {
          job: (kind, outcome) => void ended.push(`${kind} ${outcome}`),
          oldestDueJob: (seconds) => void waited.push(seconds),
        },
      });
      return Object.assign(runner, { logged, ended, waited });
    },
  };
}

/** A handler that stays inside `run` until told, whatever its signal says. */
export function heldHandler(kind: string, more: Partial<JobHandler> = {}) {
  const started = Promise.withResolvers<AbortSignal>();
  const finish = Promise.withResolvers<void>();
  let calls = 0;
  return {
    handler: {
      kind,
      ...more,
      run: async (_job, { signal }) => {
        calls++;
        started.resolve(signal);
        await finish.promise;
      },
    } satisfies JobHandler,
    started: started.promise,
    finish: finish.resolve,
    get calls() {
      return calls;
    },
  };
}
