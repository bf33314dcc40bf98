import { type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import type { Counts, Job } from "./handler.ts";
import { type ClaimedJob, type JobRow, toJob } from "./queue.ts";

/** After this many attempts that failed or never ended a job is dead: kept, visible, not tried again by itself. */
export const MAX_ATTEMPTS = 8;
/** First retry after 5 s, then twice as long each time, at most an hour. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;

/** Attempts that run: kept alive, ended, taken back. Whoever lost a lease changes nothing any more. */
export class JobLeases {
  /** @returns false when the lease is lost */
  async renew(job: ClaimedJob, now: Date, leaseMs: number, tx: Tx): Promise<boolean> {
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    await this.#lock(job, tx);
    const renewed = await tx.execute(sql`
      update jobs set lease_until = ${leaseUntil}
      where id in (select job_id from job_runs where id = ${job.runId} and outcome = 'running')
      returning 1`);
    return renewed.length > 0;
  }

  /** @returns false when the lease is lost */
  async complete(job: ClaimedJob, counts: Counts | undefined, now: Date, tx: Tx): Promise<boolean> {
    const at = now.toISOString();
    await this.#lock(job, tx);
    const completed = await tx.execute(sql`
      with run as (
        update job_runs set outcome = 'done', finished_at = ${at},
          counts = ${counts === undefined ? null : JSON.stringify(counts)}::json
        where id = ${job.runId} and outcome = 'running' returning job_id)
      update jobs set state = 'done', lease_until = null, finished_at = ${at}, last_error = null
      where id in (select job_id from run) returning 1`);
    return completed.length > 0;
  }

  /**
   * Queues the job again, at `retryAt` or with backoff, or lays it aside as dead after its last attempt. `reason` must
   * hold no personal text.
   */
  async fail(
    job: ClaimedJob,
    reason: string,
    retryAt: Date | undefined,
    now: Date,
    tx: Tx,
  ): Promise<"queued" | "dead" | "lost"> {
    const state = job.attempts >= MAX_ATTEMPTS ? "dead" : "queued";
    const at = now.toISOString();
    const runAt = retryAt ?? new Date(now.getTime() + backoff(job.attempts));
    await this.#lock(job, tx);
    const failed = await tx.execute(sql`
      with run as (
        update job_runs set outcome = 'failed', finished_at = ${at}, error = ${reason}
        where id = ${job.runId} and outcome = 'running' returning job_id)
      update jobs set state = ${state}, lease_until = null, last_error = ${reason},
        run_at = ${runAt.toISOString()}, finished_at = ${state === "dead" ? at : null}::timestamptz
      where id in (select job_id from run) returning 1`);
    return failed.length > 0 ? state : "lost";
  }

  /** Gives the job back for `runAt` as if this attempt had not been made. @returns false when the lease is lost */
  async postpone(job: ClaimedJob, reason: string, runAt: Date, tx: Tx): Promise<boolean> {
    await this.#lock(job, tx);
    const run = sql`
      delete from job_runs where id = ${job.runId} and outcome = 'running' returning job_id`;
    return this.#giveBack(run, reason, runAt, tx);
  }

  /** The same because this process stops; the run log keeps what was begun. @returns false when the lease is lost */
  async release(job: ClaimedJob, now: Date, tx: Tx): Promise<boolean> {
    await this.#lock(job, tx);
    const run = sql`
      update job_runs set outcome = 'lost', finished_at = ${now.toISOString()}, error = 'Stopped'
      where id = ${job.runId} and outcome = 'running' returning job_id`;
    return this.#giveBack(run, "Stopped", now, tx);
  }

  /**
   * Takes back the jobs whose lease is over, because their process died or stood still: each is queued again at once.
   * One without attempts left keeps running under a new lease until `bury`: yet another attempt might take this process
   * down too.
   */
  async takeBack(
    kinds: readonly string[],
    now: Date,
    leaseMs: number,
    tx: Tx,
  ): Promise<readonly Job[]> {
    const at = now.toISOString();
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    const rows = await tx.execute<JobRow>(sql`
      with lapsed as materialized (
        select id from jobs
        where state = 'running' and lease_until < ${at}
          and kind in (select json_array_elements_text(${JSON.stringify(kinds)}::json))
        for update skip locked)
      update jobs j set last_error = 'LeaseLost',
        state = case when attempts < ${MAX_ATTEMPTS} then 'queued' else 'running' end,
        lease_until = case when attempts < ${MAX_ATTEMPTS} then null else ${leaseUntil}::timestamptz end
      from lapsed where j.id = lapsed.id
      returning j.id, kind, org_id, payload, attempts`);
    if (rows.length === 0) return [];
    const ids = JSON.stringify(rows.map(({ id }) => id));
    await tx.execute(sql`
      update job_runs set outcome = 'lost', finished_at = ${at}, error = 'LeaseLost'
      where outcome = 'running' and job_id in (select json_array_elements_text(${ids}::json)::uuid)`);
    return rows.map(toJob);
  }

  /** Lays a job aside whose every attempt was used and whose last one was lost. */
  async bury(job: Job, now: Date, tx: Tx): Promise<void> {
    await tx.execute(sql`
      update jobs set state = 'dead', lease_until = null, finished_at = ${now.toISOString()}
      where id = ${job.id} and state = 'running' and attempts >= ${MAX_ATTEMPTS}
        and not exists (select 1 from job_runs where job_id = jobs.id and outcome = 'running')`);
  }

  async #giveBack(endRun: SQL, reason: string, runAt: Date, tx: Tx): Promise<boolean> {
    const givenBack = await tx.execute(sql`
      with run as (${endRun})
      update jobs set state = 'queued', lease_until = null, attempts = attempts - 1,
        run_at = ${runAt.toISOString()}, last_error = ${reason}
      where id in (select job_id from run) returning 1`);
    return givenBack.length > 0;
  }

  /**
   * The job before its run, as taking back does: there is no second order to deadlock with, and the next statement sees
   * what was committed while this one waited.
   */
  async #lock(job: ClaimedJob, tx: Tx): Promise<void> {
    await tx.execute(sql`select 1 from jobs where id = ${job.id} for update`);
  }
}

function backoff(attempts: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
}
