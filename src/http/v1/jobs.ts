import { z } from "zod";
import { JobQuery, type JobService, RunQuery } from "../../jobs/service.ts";
import { Id, NextBefore, Nothing, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const Counts = z
  .record(z.string(), z.number())
  .meta({ description: "What a run did, in numbers by name" });

const Job = z
  .strictObject({
    id: Id,
    kind: z.string(),
    of: z.enum(["org", "server"]).meta({ description: "`server`: over all orgs" }),
    state: z.enum(["queued", "running", "done", "dead"]),
    attempts: z.int(),
    lastError: z.string().nullable(),
    createdAt: Time,
    runAt: Time,
    finishedAt: Time.nullable(),
  })
  .meta({ id: "Job" });

const Run = z
  .strictObject({
    id: Id,
    jobId: Id,
    kind: z.string(),
    attempt: z.int(),
    outcome: z.string(),
    startedAt: Time,
    finishedAt: Time.nullable(),
    counts: Counts.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "JobRun" });

const Schedule = z.strictObject({
  kind: z.string(),
  cron: z
    .string()
    .nullable()
    .meta({ description: "In UTC; null: only when something asks for it" }),
  nextAt: Time.nullable(),
  last: Run.nullable(),
});

/** Jobs, their runs and dead letters; and the consolidation of facts, now rather than at CONSOLIDATE_CRON. */
export const jobRoutes = (jobs: JobService): Route[] => [
  route({
    method: "GET",
    url: "/v1/jobs",
    id: "listJobs",
    section: "Operations",
    summary: "Jobs of the org",
    description: "Newest first. A job that is `dead` failed eight times and waits for somebody.",
    caller: "admin",
    query: JobQuery,
    answer: z.strictObject({ jobs: z.array(Job), nextBefore: NextBefore }),
    handle: ({ by, query }) => jobs.list(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/jobs/runs",
    id: "listJobRuns",
    section: "Operations",
    summary: "Attempts at jobs",
    description: "Newest first, with what each one did or why it failed.",
    caller: "admin",
    query: RunQuery,
    answer: z.strictObject({ runs: z.array(Run), nextBefore: NextBefore }),
    handle: ({ by, query }) => jobs.runs(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/jobs/schedule",
    id: "listSchedule",
    section: "Operations",
    summary: "What runs by itself, when, and how it went last",
    caller: "admin",
    answer: z.strictObject({ kinds: z.array(Schedule) }),
    handle: async ({ by }) => ({ kinds: await jobs.schedule(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/jobs/schedule/:kind/start",
    id: "startJob",
    section: "Operations",
    summary: "Queue a job before its time",
    description: "Over all orgs, at most once a minute.",
    caller: "owner",
    errors: ["NOT_FOUND"],
    params: z.object({ kind: z.string() }),
    status: 204,
    answer: Nothing,
    handle: ({ by, params: { kind } }) => jobs.start(by, kind),
  }),
  route({
    method: "POST",
    url: "/v1/jobs/:jobId/replay",
    id: "replayJob",
    section: "Operations",
    summary: "Run a dead job again",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT"],
    params: z.object({ jobId: z.string() }),
    answer: Job,
    handle: ({ by, params: { jobId } }) => jobs.replay(by, jobId),
  }),
  route({
    method: "POST",
    url: "/v1/consolidate",
    id: "consolidate",
    section: "Operations",
    summary: "Consolidate facts now",
    description: "Of every org, as the daily job does; waits until it is done.",
    caller: "owner",
    errors: ["CONFLICT"],
    answer: z.strictObject({ counts: Counts }),
    handle: async ({ by }) => ({ counts: await jobs.runNow(by, "facts.consolidate") }),
  }),
];
