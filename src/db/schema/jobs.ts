import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs } from "./orgs.ts";

/** The durable queue. A row of no org is the server's own work (retention, maintenance). */
export const jobs = pgTable(
  "jobs",
  {
    id: id(),
    orgId: uuid("org_id").references(() => orgs.id, { onDelete: "cascade" }),
    kind: text().notNull(),
    /** Unique within the kind for ever: a cron slot or an event is queued once, however many replicas try. */
    dedupeKey: text("dedupe_key").notNull(),
    payload: jsonText().notNull(),
    state: text({ enum: ["queued", "running", "done", "dead"] })
      .notNull()
      .default("queued"),
    runAt: instant("run_at").notNull(),
    leaseUntil: instant("lease_until"),
    attempts: integer().notNull().default(0),
    lastError: text("last_error"),
    createdAt: instant("created_at").notNull(),
    finishedAt: instant("finished_at"),
  },
  (t) => [
    unique("jobs_dedupe").on(t.kind, t.dedupeKey),
    index("jobs_org_time_idx").on(t.orgId, t.createdAt, t.id),
    index("jobs_dead_idx").on(t.orgId, t.createdAt, t.id).where(sql`${t.state} = 'dead'`),
    index("jobs_due_idx").on(t.runAt).where(sql`${t.state} in ('queued', 'running')`),
    check("jobs_state", sql`${t.state} in ('queued', 'running', 'done', 'dead')`),
    tenantPolicy("jobs"),
  ],
);

/** One attempt at a job: when, how it ended, what it did. */
export const jobRuns = pgTable(
  "job_runs",
  {
    id: id(),
    orgId: uuid("org_id").references(() => orgs.id, { onDelete: "cascade" }),
    jobId: uuid("job_id").notNull(),
    kind: text().notNull(),
    attempt: integer().notNull(),
    outcome: text({ enum: ["running", "done", "failed", "lost"] }).notNull(),
    startedAt: instant("started_at").notNull(),
    finishedAt: instant("finished_at"),
    /** Numbers by name, e.g. how many facts faded. */
    counts: jsonText(),
    error: text(),
  },
  (t) => [
    index("job_runs_job_idx").on(t.jobId),
    index("job_runs_kind_idx").on(t.orgId, t.kind, t.startedAt),
    index("job_runs_time_idx").on(t.startedAt),
    check("job_runs_outcome", sql`${t.outcome} in ('running', 'done', 'failed', 'lost')`),
    tenantPolicy("job_runs"),
  ],
);
