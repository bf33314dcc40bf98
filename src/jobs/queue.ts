import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import { jobs } from "../db/schema/jobs.ts";
import type { Tx } from "../db/tenant.ts";
import type { Job, JobHandler } from "./handler.ts";

export interface NewJob {
  readonly kind: string;
  /** Queued once per kind and key, however many processes try, until 30 days after the job ended. */
  readonly dedupeKey: string;
  readonly orgId: string | null;
  /** Ids rather than contents: it is kept for 30 days after the job ended. */
  readonly payload: unknown;
  readonly runAt: Date;
}

/** A job under the lease of one attempt. */
export interface ClaimedJob extends Job {
  /** Of the attempt's row in the run log; while that says `running`, the lease is this attempt's. */
  readonly runId: string;
}

/** A handler as the queue needs to know it. */
export type Claimable = Pick<JobHandler, "kind" | "exclusive">;

/** What waits, and who gets it. */
export class JobQueue {
  /** Does nothing where the key is known. The job starts at once if its runner is woken after the commit. */
  async enqueue(job: NewJob, now: Date, tx: Tx): Promise<void> {
    await tx
      .insert(jobs)
      .values({ ...job, payload: JSON.stringify(job.payload), createdAt: now })
      .onConflictDoNothing();
  }

  /**
   * Queues work of a kind that looks for itself what there is to do, unless such a job of the org waits already for that
   * time or an earlier one. A job that waits is held, so that it does not begin before this transaction's rows can be
   * seen; where another transaction holds it, there will be a second job.
   */
  async request(
    { kind, orgId, runAt }: Pick<NewJob, "kind" | "runAt"> & { readonly orgId: string },
    now: Date,
    tx: Tx,
  ): Promise<void> {
    const at = runAt.toISOString();
    await tx.execute(sql`
      with waiting as materialized (
        select id from jobs
        where org_id = ${orgId} and kind = ${kind} and state = 'queued' and attempts = 0 and run_at <= ${at}
        limit 1 for no key update skip locked)
      insert into jobs (id, org_id, kind, dedupe_key, payload, run_at, created_at)
      select ${v7()}::uuid, ${orgId}::uuid, ${kind}::text, ${v7()}::text, '{}', ${at}::timestamptz,
        ${now.toISOString()}::timestamptz
      where not exists (select from waiting)`);
  }

  /** Lets a job that waits for its time run now; one that is running, tried or over already goes on as it is. */
  async hasten(
    job: Pick<NewJob, "kind" | "dedupeKey" | "orgId">,
    now: Date,
    tx: Tx,
  ): Promise<void> {
    await tx.execute(sql`
      update jobs set run_at = ${now.toISOString()}
      where kind = ${job.kind} and dedupe_key = ${job.dedupeKey} and org_id = ${job.orgId}
        and state = 'queued' and attempts = 0 and run_at > ${now.toISOString()}`);
  }

  /** Takes the oldest due job of the given kinds for one attempt; no two processes get the same one. */
  async claim(
    handlers: readonly Claimable[],
    now: Date,
    leaseMs: number,
    tx: Tx,
  ): Promise<ClaimedJob | undefined> {
    const kinds = handlers.map(({ kind }) => kind);
    const exclusive = handlers.filter((handler) => handler.exclusive).map(({ kind }) => kind);
    for (;;) {
      const [due] = await tx.execute<{ id: string; kind: string }>(sql`
        select id, kind from jobs j
        where state = 'queued' and run_at <= ${now.toISOString()}
          and kind in (select json_array_elements_text(${JSON.stringify(kinds)}::json))
          and not (kind in (select json_array_elements_text(${JSON.stringify(exclusive)}::json))
            and exists (select 1 from jobs r where r.kind = j.kind and r.state = 'running'))
        order by run_at, id limit 1 for update skip locked`);
      if (!due) return undefined;
      if (exclusive.includes(due.kind) && (await this.#isRunning(due.kind, tx))) continue;
      return this.#begin(due.id, now, leaseMs, tx);
    }
  }

  /**
   * Queues and takes a job of an exclusive kind that runs now.
   *
   * @returns undefined while another one runs
   */
  async claimNew(
    kind: string,
    now: Date,
    leaseMs: number,
    tx: Tx,
  ): Promise<ClaimedJob | undefined> {
    if (await this.#isRunning(kind, tx)) return undefined;
    const job = { kind, dedupeKey: `now ${v7()}`, orgId: null, payload: "{}" };
    const [row] = await tx
      .insert(jobs)
      .values({ ...job, runAt: now, createdAt: now })
      .returning({ id: jobs.id });
    return row && this.#begin(row.id, now, leaseMs, tx);
  }

  /** Since when the oldest job that could run waits; undefined when none does. */
  async oldestDue(now: Date, tx: Tx): Promise<Date | undefined> {
    const [row] = await tx.execute<{ run_at: string }>(sql`
      select run_at from jobs where state = 'queued' and run_at <= ${now.toISOString()}
      order by run_at limit 1`);
    return row && new Date(row.run_at);
  }

  /**
   * Looks while nobody else can begin a job of the kind: two claims that see no running one would both begin. The lock
   * comes in a statement before, because a statement does not see what was committed while it waited.
   */
  async #isRunning(kind: string, tx: Tx): Promise<boolean> {
    const name = `exclusive job ${kind}`;
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 3))`);
    const [running] = await tx.execute(
      sql`select 1 from jobs where kind = ${kind} and state = 'running' limit 1`,
    );
    return running !== undefined;
  }

  async #begin(id: string, now: Date, leaseMs: number, tx: Tx): Promise<ClaimedJob | undefined> {
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    const runId = v7();
    const [row] = await tx.execute<JobRow>(sql`
      with job as (
        update jobs set state = 'running', lease_until = ${leaseUntil}, attempts = attempts + 1
        where id = ${id} returning id, kind, org_id, payload, attempts),
      run as (
        insert into job_runs (id, org_id, job_id, kind, attempt, outcome, started_at)
        select ${runId}::uuid, org_id, id, kind, attempts, 'running', ${now.toISOString()}::timestamptz
        from job)
      select * from job`);
    return row && { ...toJob(row), runId };
  }
}

/** Columns that a statement returns for a job. */
export type JobRow = {
  readonly id: string;
  readonly kind: string;
  readonly org_id: string | null;
  readonly payload: string;
  readonly attempts: number;
};

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    orgId: row.org_id,
    payload: row.payload,
    attempts: row.attempts,
  };
}
