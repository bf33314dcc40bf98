import { and, desc, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { jobRuns, jobs } from "../db/schema/jobs.ts";
import type { Tx } from "../db/tenant.ts";
import { type Slot, slotKey } from "./slots.ts";

export type JobRow = typeof jobs.$inferSelect;
export type RunRow = typeof jobRuns.$inferSelect;
type JobState = JobRow["state"];

/** Whose jobs: an org's, and for the operator the server's own too. */
export interface JobScope {
  readonly orgId: string;
  readonly withServer: boolean;
}

/** Where a page ends: rows strictly before it, newest first. */
export interface PagePoint {
  readonly at: Date;
  readonly id: string;
}

export interface JobFilter {
  readonly kind?: string | undefined;
  readonly state?: JobState | undefined;
  readonly before?: PagePoint | undefined;
  readonly limit: number;
}

export interface RunFilter {
  readonly kind?: string | undefined;
  readonly jobId?: string | undefined;
  readonly before?: PagePoint | undefined;
  readonly limit: number;
}

/** What people see of the queue and of its run log. */
export class JobRepository {
  list(scope: JobScope, { kind, state, before, limit }: JobFilter, tx: Tx): Promise<JobRow[]> {
    return tx
      .select()
      .from(jobs)
      .where(
        and(
          ownedBy(scope, jobs.orgId),
          kind === undefined ? undefined : eq(jobs.kind, kind),
          state === undefined ? undefined : eq(jobs.state, state),
          olderThan(before, jobs.createdAt, jobs.id),
        ),
      )
      .orderBy(desc(jobs.createdAt), desc(jobs.id))
      .limit(limit);
  }

  runs(scope: JobScope, { kind, jobId, before, limit }: RunFilter, tx: Tx): Promise<RunRow[]> {
    return tx
      .select()
      .from(jobRuns)
      .where(
        and(
          ownedBy(scope, jobRuns.orgId),
          kind === undefined ? undefined : eq(jobRuns.kind, kind),
          jobId === undefined ? undefined : eq(jobRuns.jobId, jobId),
          olderThan(before, jobRuns.startedAt, jobRuns.id),
        ),
      )
      .orderBy(desc(jobRuns.startedAt), desc(jobRuns.id))
      .limit(limit);
  }

  /** Of each kind the attempt that began last. */
  async lastRuns(scope: JobScope, kinds: readonly string[], tx: Tx): Promise<RunRow[]> {
    const last = (owner: SQL) => sql`(
      select id, started_at from job_runs
      where ${owner} and kind = wanted.kind order by started_at desc limit 1)`;
    const ofOrg = last(sql`org_id = ${scope.orgId}`);
    const all = scope.withServer ? sql`${ofOrg} union all ${last(sql`org_id is null`)}` : ofOrg;
    return tx
      .select()
      .from(jobRuns)
      .where(
        and(
          ownedBy(scope, jobRuns.orgId),
          sql`${jobRuns.id} in (
            select (select id from (${all}) latest order by started_at desc limit 1)
            from json_array_elements_text(${JSON.stringify(kinds)}::json) wanted(kind))`,
        ),
      );
  }

  /** Whether the server holds this org alone. Needs a system transaction. */
  async isOnlyOrg(orgId: string, tx: Tx): Promise<boolean> {
    const others = await tx.execute(sql`select 1 from orgs where id <> ${orgId} limit 1`);
    return others.length === 0;
  }

  /** Locks the row: what is then decided on its state holds. */
  async find(scope: JobScope, id: string, tx: Tx): Promise<JobRow | undefined> {
    const [row] = await tx
      .select()
      .from(jobs)
      .where(and(ownedBy(scope, jobs.orgId), eq(jobs.id, id)))
      .for("update");
    return row;
  }

  /** Queues a job again as if it had never been tried. */
  async replay(scope: JobScope, id: string, now: Date, tx: Tx): Promise<JobRow | undefined> {
    const [row] = await tx
      .update(jobs)
      .set({ state: "queued", attempts: 0, runAt: now, finishedAt: null, lastError: null })
      .where(and(ownedBy(scope, jobs.orgId), eq(jobs.id, id), eq(jobs.state, "dead")))
      .returning();
    return row;
  }

  /** Deletes up to `limit` jobs that ended before `before`, but for the slots in `kept`. @returns how many */
  async deleteEnded(before: Date, kept: readonly Slot[], limit: number, tx: Tx): Promise<number> {
    const slots = kept.map((slot) => [slot.kind, slotKey(slot)]);
    const rows = await tx.execute(sql`
      with kept as (select slot ->> 0 as kind, slot ->> 1 as key
        from json_array_elements(${JSON.stringify(slots)}::json) slot)
      delete from jobs where id in (
        select id from jobs where state in ('done', 'dead') and finished_at < ${before.toISOString()}
          and (kind, dedupe_key) not in (select kind, key from kept)
        order by finished_at limit ${limit})
      returning 1`);
    return rows.length;
  }

  /** Deletes up to `limit` runs that began before `before` and ended. @returns how many */
  async deleteRuns(before: Date, limit: number, tx: Tx): Promise<number> {
    const rows = await tx.execute(sql`
      delete from job_runs where id in (
        select id from job_runs where started_at < ${before.toISOString()} and outcome <> 'running'
        order by started_at limit ${limit})
      returning 1`);
    return rows.length;
  }
}

function ownedBy({ orgId, withServer }: JobScope, column: PgColumn): SQL | undefined {
  return withServer ? or(eq(column, orgId), isNull(column)) : eq(column, orgId);
}

function olderThan(point: PagePoint | undefined, at: PgColumn, id: PgColumn): SQL | undefined {
  if (!point) return undefined;
  return or(lt(at, point.at), and(eq(at, point.at), lt(id, point.id)));
}
