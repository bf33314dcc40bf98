import { sql } from "drizzle-orm";
import { jobs } from "../db/schema/jobs.ts";
import type { Tx } from "../db/tenant.ts";

/** After this many attempts that failed or never ended a job is dead: kept, visible, not tried again by itself. */
export const MAX_ATTEMPTS = 8;
/** First retry after 5 s, then twice as long each time, at most an hour. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;

export interface NewJob {
  readonly kind: string;
  /** Queued once per kind and key for ever, however many processes try. */
  readonly dedupeKey: string;
  readonly orgId: string | null;
  readonly payload: unknown;
  readonly runAt: Date;
}

export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly orgId: string | null;
  /** JSON text. */
  readonly payload: string;
  readonly attempts: number;
}

/** The durable queue under leases: a job whose process died runs again when its lease is over. */
export class JobQueue {
  async enqueue(job: NewJob, now: Date, tx: Tx): Promise<void> {
    await tx
      .insert(jobs)
      .values({ ...job, payload: JSON.stringify(job.payload), createdAt: now })
      .onConflictDoNothing();
  }

  /** Takes the oldest due job of the given kinds; no two processes get the same one. */
  async claim(
    kinds: readonly string[],
    now: Date,
    leaseMs: number,
    tx: Tx,
  ): Promise<ClaimedJob | undefined> {
    const at = now.toISOString();
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    const [row] = await tx.execute<{
      id: string;
      kind: string;
      org_id: string | null;
      payload: string;
      attempts: number;
    }>(sql`
      update jobs set state = 'running', lease_until = ${leaseUntil}, attempts = attempts + 1
      where id = (
        select id from jobs
        where kind in (select json_array_elements_text(${JSON.stringify(kinds)}::json))
          and run_at <= ${at}
          and (state = 'queued' or (state = 'running' and lease_until < ${at}))
        order by run_at, id limit 1 for update skip locked)
      returning id, kind, org_id, payload, attempts`);
    return (
      row && {
        id: row.id,
        kind: row.kind,
        orgId: row.org_id,
        payload: row.payload,
        attempts: row.attempts,
      }
    );
  }

  async complete(job: ClaimedJob, now: Date, tx: Tx): Promise<void> {
    await tx.execute(sql`
      update jobs set state = 'done', lease_until = null, finished_at = ${now.toISOString()}, last_error = null
      where id = ${job.id} and attempts = ${job.attempts}`);
  }

  /** Queues the job again with backoff, or lays it aside as dead. `reason` must hold no personal text. */
  async fail(job: ClaimedJob, reason: string, now: Date, tx: Tx): Promise<"queued" | "dead"> {
    const dead = job.attempts >= MAX_ATTEMPTS;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (job.attempts - 1), LONGEST_RETRY_MS);
    const runAt = new Date(now.getTime() + delay).toISOString();
    const state = dead ? "dead" : "queued";
    await tx.execute(sql`
      update jobs set state = ${state}, lease_until = null, last_error = ${reason}, run_at = ${runAt},
        finished_at = ${dead ? now.toISOString() : null}::timestamptz
      where id = ${job.id} and attempts = ${job.attempts}`);
    return state;
  }
}
