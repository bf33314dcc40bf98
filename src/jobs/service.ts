import { z } from "zod";
import {
  isOwner,
  OPERATOR_KEY_ID,
  type Principal,
  requireAdmin,
  requireOwner,
} from "../access/principal.ts";
import type { AuditEvent, AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { isUuid } from "../uuid.ts";
import type { Counts, JobHandler } from "./handler.ts";
import type { JobQueue } from "./queue.ts";
import type { JobRepository, JobRow, JobScope, PagePoint, RunRow } from "./repository.ts";
import type { JobRunner } from "./runner.ts";
import { nextSlot } from "./slots.ts";

const Page = {
  kind: z.string().min(1).max(100).optional(),
  /** `nextBefore` of the page before. */
  before: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};
export const JobQuery = z.strictObject({
  ...Page,
  state: z.enum(["queued", "running", "done", "dead"]).optional(),
});
export type JobQuery = z.output<typeof JobQuery>;
export const RunQuery = z.strictObject({ ...Page, jobId: z.uuid().optional() });
export type RunQuery = z.output<typeof RunQuery>;

/** A job as it may be shown: without its payload. */
export interface JobInfo {
  readonly id: string;
  readonly kind: string;
  /** `server`: over all orgs; only the operator sees those. */
  readonly of: "org" | "server";
  readonly state: JobRow["state"];
  readonly attempts: number;
  /** Name and code of the error that the last attempt ended with. */
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly runAt: string;
  readonly finishedAt: string | null;
}

export interface RunInfo {
  readonly id: string;
  readonly jobId: string;
  readonly kind: string;
  readonly attempt: number;
  readonly outcome: RunRow["outcome"];
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly counts: Counts | null;
  readonly error: string | null;
}

/** A kind of job, when it runs by itself, and how it went last. */
export interface ScheduledKind {
  readonly kind: string;
  /** In UTC; null: only when something asks for it. */
  readonly cron: string | null;
  readonly nextAt: string | null;
  /** The last attempt that the caller may see. */
  readonly last: RunInfo | null;
}

interface JobDependencies {
  readonly jobs: JobRepository;
  readonly queue: JobQueue;
  /** Everything that this server can do. */
  readonly handlers: readonly JobHandler[];
  readonly runner: Pick<JobRunner, "wake" | "runNow">;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/**
 * What an admin sees and does of the org's jobs. The server's own go over all orgs, so the operator sees them, and the
 * owner of the only org there is.
 */
export class JobService {
  readonly #deps: JobDependencies;

  constructor(deps: JobDependencies) {
    this.#deps = deps;
  }

  /** Newest first. @throws AppError FORBIDDEN; INVALID_INPUT for a `before` that is no `nextBefore` */
  async list(
    by: Principal,
    { before, ...query }: JobQuery,
  ): Promise<{ jobs: JobInfo[]; nextBefore: string | null }> {
    const filter = { ...query, before: readPoint(before) };
    const rows = await this.#within(by, (scope, tx) => this.#deps.jobs.list(scope, filter, tx));
    const last = rows.length === query.limit ? rows.at(-1) : undefined;
    return {
      jobs: rows.map(toJobInfo),
      nextBefore: last ? writePoint({ at: last.createdAt, id: last.id }) : null,
    };
  }

  /** Attempts, newest first. @throws as `list` does */
  async runs(
    by: Principal,
    { before, ...query }: RunQuery,
  ): Promise<{ runs: RunInfo[]; nextBefore: string | null }> {
    const filter = { ...query, before: readPoint(before) };
    const rows = await this.#within(by, (scope, tx) => this.#deps.jobs.runs(scope, filter, tx));
    const last = rows.length === query.limit ? rows.at(-1) : undefined;
    return {
      runs: rows.map(toRunInfo),
      nextBefore: last ? writePoint({ at: last.startedAt, id: last.id }) : null,
    };
  }

  /** Gives a dead job all its attempts back. @throws AppError NOT_FOUND; CONFLICT for one that is not dead */
  async replay(by: Principal, id: string): Promise<JobInfo> {
    const { jobs, clock, runner } = this.#deps;
    const row = await this.#within(by, async (scope, tx) => {
      const found = isUuid(id) ? await jobs.find(scope, id, tx) : undefined;
      if (!found) throw new AppError("NOT_FOUND", "no job has this id");
      const replayed = await jobs.replay(scope, id, clock(), tx);
      if (replayed) {
        const { kind } = replayed;
        await this.#record(by, { action: "job.replayed", subjectId: id, details: { kind } }, tx);
        return replayed;
      }
      throw new AppError("CONFLICT", `only a dead job can be replayed, this one is ${found.state}`);
    });
    runner.wake();
    return toJobInfo(row);
  }

  /** What the server does, when, and how it went last; in the order of the kinds. */
  async schedule(by: Principal): Promise<ScheduledKind[]> {
    const { jobs, handlers, clock } = this.#deps;
    const sorted = handlers.toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
    const kinds = sorted.map(({ kind }) => kind);
    const rows = await this.#within(by, (scope, tx) => jobs.lastRuns(scope, kinds, tx));
    const now = clock();
    return sorted.map(({ kind, cron }) => {
      const last = rows.find((row) => row.kind === kind);
      return {
        kind,
        cron: cron ?? null,
        nextAt: (cron && nextSlot(cron, now)?.toISOString()) || null,
        last: last ? toRunInfo(last) : null,
      };
    });
  }

  /**
   * Queues a job of the server's own before its time, over all orgs; once a minute.
   *
   * @throws AppError FORBIDDEN but for owners; NOT_FOUND for a kind that does not run by itself
   */
  async start(by: Principal, kind: string): Promise<void> {
    requireOwner(by);
    const { queue, handlers, transactions, clock, runner } = this.#deps;
    if (!handlers.some((handler) => handler.kind === kind && handler.cron !== undefined)) {
      throw new AppError("NOT_FOUND", "no job of this kind runs by itself");
    }
    const now = clock();
    const dedupeKey = `asked ${now.toISOString().slice(0, 16)}`;
    await transactions.system("operator", async (tx) => {
      await this.#record(by, { action: "job.started", subjectId: kind }, tx);
      await queue.enqueue({ kind, dedupeKey, orgId: null, payload: {}, runAt: now }, now, tx);
    });
    runner.wake();
  }

  /** Runs an exclusive job over all orgs here and now. @throws AppError FORBIDDEN but for owners; and as `runNow` does */
  async runNow(by: Principal, kind: string): Promise<Counts> {
    requireOwner(by);
    await this.#within(by, (_, tx) =>
      this.#record(by, { action: "job.started", subjectId: kind }, tx),
    );
    return this.#deps.runner.runNow(kind);
  }

  #record(
    by: Principal,
    event: Pick<AuditEvent, "action" | "subjectId" | "details">,
    tx: Tx,
  ): Promise<void> {
    const entry = { ...event, subjectKind: "job", actor: by.keyId, reason: null } as const;
    return this.#deps.audit.record(by, entry, tx);
  }

  async #within<T>(by: Principal, work: (scope: JobScope, tx: Tx) => Promise<T>): Promise<T> {
    requireAdmin(by);
    const { jobs, transactions } = this.#deps;
    const { orgId } = by;
    const seesServer =
      by.keyId === OPERATOR_KEY_ID ||
      (isOwner(by) && (await transactions.system("operator", (tx) => jobs.isOnlyOrg(orgId, tx))));
    if (seesServer) {
      return transactions.system("operator", (tx) => work({ orgId, withServer: true }, tx));
    }
    return transactions.tenant(by, (tx) => work({ orgId, withServer: false }, tx));
  }
}

function writePoint({ at, id }: PagePoint): string {
  return `${at.getTime()}.${id}`;
}

function readPoint(before: string | undefined): PagePoint | undefined {
  if (before === undefined) return undefined;
  const [milliseconds = "", id = ""] = before.split(".");
  const at = new Date(/^\d{1,15}$/.test(milliseconds) ? Number(milliseconds) : Number.NaN);
  if (isUuid(id) && at.getTime() < Date.UTC(9999, 0)) return { at, id };
  throw new AppError("INVALID_INPUT", "before: is not the nextBefore of a page");
}

function toJobInfo(row: JobRow): JobInfo {
  return {
    id: row.id,
    kind: row.kind,
    of: row.orgId === null ? "server" : "org",
    state: row.state,
    attempts: row.attempts,
    lastError: row.lastError,
    createdAt: row.createdAt.toISOString(),
    runAt: row.runAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}

function toRunInfo(row: RunRow): RunInfo {
  return {
    id: row.id,
    jobId: row.jobId,
    kind: row.kind,
    attempt: row.attempt,
    outcome: row.outcome,
    startedAt: row.startedAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
    counts: row.counts === null ? null : (JSON.parse(row.counts) as Counts),
    error: row.error,
  };
}
