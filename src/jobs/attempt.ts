import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { Counts, JobHandler } from "./handler.ts";
import { type JobLeases, MAX_ATTEMPTS } from "./leases.ts";
import type { ClaimedJob } from "./queue.ts";
import { reasonOf } from "./reason.ts";
import { RetryLater } from "./retry-later.ts";

/** How long a job stays with a process that is not heard of. */
export const LEASE_MS = 60_000;
/** Two renewals may fail before the lease is over. */
const BEAT_MS = 20_000;
/** A handler that asks for "now" again and again must not keep a processor busy. */
const SHORTEST_WAIT_MS = 1_000;

/** `failed`: tried again later. `stopped`, `postponed`: given back without counting. `lost`: another one has it. */
export type Outcome = "done" | "failed" | "dead" | "lost" | "stopped" | "postponed";

export interface Ended {
  readonly outcome: Outcome;
  readonly counts?: Counts | undefined;
  readonly error?: unknown;
}

export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface AttemptDependencies {
  readonly leases: JobLeases;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly log: JobLog;
}

class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

class Stopped extends Error {
  override readonly name = "Stopped";
}

/** One attempt at a claimed job: its handler runs at once, under a lease that is renewed until it ends. */
export class Attempt {
  readonly job: ClaimedJob;
  /** Never rejects. */
  readonly ended: Promise<Ended>;
  readonly #handler: JobHandler;
  readonly #deps: AttemptDependencies;
  readonly #controller = new AbortController();
  #leaseUntil: number;

  constructor(job: ClaimedJob, handler: JobHandler, deps: AttemptDependencies) {
    this.job = job;
    this.#handler = handler;
    this.#deps = deps;
    this.#leaseUntil = deps.clock().getTime() + LEASE_MS;
    this.ended = this.#run();
  }

  /** Asks the handler to end because the process does; the job is then somebody else's at once. */
  stop(): void {
    this.#controller.abort(new Stopped());
  }

  /** Tells the handler that the job is somebody else's already. */
  lose(): void {
    this.#controller.abort(new LeaseLost());
  }

  async #run(): Promise<Ended> {
    const { log } = this.#deps;
    const fields = { job: this.job.id, kind: this.job.kind, attempt: this.job.attempts };
    const beat = setInterval(() => void this.#renew(fields), BEAT_MS);
    beat.unref();
    try {
      const ended = await this.#attempt();
      const { outcome, counts, error } = ended;
      const said = { ...fields, state: outcome };
      if (outcome === "done") log.info({ ...said, counts }, "job done");
      else if (outcome === "postponed" || outcome === "stopped") log.info(said, "job given back");
      else if (outcome === "dead")
        log.error({ ...said, err: error }, "job failed for the last time");
      else log.warn({ ...said, err: error }, "job failed");
      return ended;
    } catch (error) {
      // The lease will be over, and the job runs again.
      log.error({ ...fields, err: error }, "the end of a job could not be noted");
      return { outcome: "lost", error };
    } finally {
      clearInterval(beat);
    }
  }

  async #attempt(): Promise<Ended> {
    const { leases, transactions, clock } = this.#deps;
    const { signal } = this.#controller;
    let counts: Counts | undefined;
    try {
      counts = (await this.#handler.run(this.job, { signal })) ?? undefined;
    } catch (error) {
      return this.#failed(error);
    }
    const isNoted = await transactions.system("job queue", (tx) =>
      leases.complete(this.job, counts, clock(), tx),
    );
    return isNoted ? { outcome: "done", counts } : { outcome: "lost", error: new LeaseLost() };
  }

  async #failed(error: unknown): Promise<Ended> {
    const { leases, transactions, clock } = this.#deps;
    const { job } = this;
    const note = <T>(work: Parameters<typeof transactions.system<T>>[1]) =>
      transactions.system("job queue", work);
    const reason: unknown = this.#controller.signal.reason;
    if (reason instanceof LeaseLost) return { outcome: "lost", error: reason };
    if (reason instanceof Stopped) {
      const isGivenBack = await note((tx) => leases.release(job, clock(), tx));
      return { outcome: isGivenBack ? "stopped" : "lost", error: reason };
    }
    let retryAt: Date | undefined;
    if (error instanceof RetryLater) {
      const soonest = clock().getTime() + SHORTEST_WAIT_MS;
      const at = new Date(Math.max(error.at.getTime(), soonest));
      if (!error.countsAsAttempt) {
        const isGivenBack = await note((tx) => leases.postpone(job, reasonOf(error), at, tx));
        return { outcome: isGivenBack ? "postponed" : "lost", error };
      }
      retryAt = at;
    }
    if (job.attempts >= MAX_ATTEMPTS) await tellDead(this.#handler, job, this.#deps.log);
    const state = await note((tx) => leases.fail(job, reasonOf(error), retryAt, clock(), tx));
    return { outcome: state === "queued" ? "failed" : state, error };
  }

  async #renew(fields: object): Promise<void> {
    const { leases, transactions, clock, log } = this.#deps;
    const now = clock();
    try {
      const isRenewed = await transactions.system("job queue", (tx) =>
        leases.renew(this.job, now, LEASE_MS, tx),
      );
      if (!isRenewed) return this.lose();
      this.#leaseUntil = now.getTime() + LEASE_MS;
    } catch (error) {
      log.warn({ ...fields, err: error }, "a job's lease could not be renewed");
      // Others may reach the database that this process does not.
      if (clock().getTime() >= this.#leaseUntil) this.lose();
    }
  }
}

/** Runs `onDead`; what it throws keeps no job alive. */
export async function tellDead(
  handler: JobHandler,
  job: Parameters<NonNullable<JobHandler["onDead"]>>[0],
  log: JobLog,
): Promise<void> {
  try {
    await handler.onDead?.(job);
  } catch (error) {
    log.error({ job: job.id, kind: job.kind, err: error }, "giving up on a job failed");
  }
}
