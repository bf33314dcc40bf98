import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { Attempt, type JobLog, LEASE_MS, type Outcome, tellDead } from "./attempt.ts";
import type { Counts, JobHandler } from "./handler.ts";
import { type JobLeases, MAX_ATTEMPTS } from "./leases.ts";
import type { ClaimedJob, JobQueue } from "./queue.ts";
import { lastSlots, slotKey } from "./slots.ts";

/** How often a process looks for work that it was not told of: slots, retries, what others queued or lost. */
const POLL_MS = 5_000;
/** Every kind may run one job, so that none ever waits for another kind; these more are for whoever has more to do. */
const SHARED_LANES = 3;
/** The rest of a stop needs six seconds of the ten that supervisors give. */
const STOP_WITHIN_MS = 4_000;

interface JobMetrics {
  job(kind: string, outcome: Outcome): void;
  oldestDueJob(seconds: number): void;
}

interface RunnerDependencies {
  readonly queue: JobQueue;
  readonly leases: JobLeases;
  readonly transactions: Transactions;
  readonly handlers: readonly JobHandler[];
  readonly clock: Clock;
  readonly log: JobLog;
  readonly metrics: JobMetrics;
}

/** Runs due jobs in this process; start it once, stop it before the database closes. */
export class JobRunner {
  readonly #deps: RunnerDependencies;
  readonly #kinds: readonly string[];
  readonly #attempts = new Set<Attempt>();
  /** The last slot of each kind that this process queued: between two slots nothing is asked of the database. */
  readonly #slots = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #wanted: "nothing" | "jobs" | "everything" = "nothing";
  #begun = 0;
  #isStopping = false;
  #stopped: Promise<void> | undefined;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
    this.#kinds = deps.handlers.map(({ kind }) => kind);
  }

  start(): void {
    this.#timer = setInterval(() => this.#lookAndTell("everything"), POLL_MS);
    this.#timer.unref();
  }

  /**
   * Starts what is due without waiting for the next look; does nothing in a process that runs no jobs. Call it after the
   * commit of the transaction that queued the job.
   */
  wake(): void {
    if (this.#timer) this.#lookAndTell("jobs");
  }

  /**
   * Takes no more work and asks what runs to end. Resolves when it has ended, or after 4 s: what has not ended by then
   * is taken over by another process when its lease is over.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Runs everything that is due, slots and retries too, until nothing is left or `stop`. @returns how many jobs ran */
  async runDue(): Promise<number> {
    const before = this.#begun;
    for (;;) {
      await this.#look("everything");
      if (this.#attempts.size === 0) return this.#begun - before;
      await Promise.race([...this.#attempts].map(({ ended }) => ended));
    }
  }

  /**
   * Runs a job of an exclusive kind here and now and waits for its end.
   *
   * @throws AppError CONFLICT while one runs anywhere; UNAVAILABLE when it was interrupted; what the handler throws
   */
  async runNow(kind: string): Promise<Counts> {
    const { queue, clock } = this.#deps;
    const handler = this.#handlerOf(kind);
    if (!handler?.exclusive) throw new Error(`no exclusive job is called ${kind}`);
    await this.#takeBack();
    const job = this.#isStopping
      ? undefined
      : await this.#transaction((tx) => queue.claimNew(kind, clock(), LEASE_MS, tx));
    if (this.#isStopping) {
      if (job) await this.#release(job);
      throw new AppError("UNAVAILABLE", "the server is stopping");
    }
    if (!job) {
      throw new AppError(
        "CONFLICT",
        `${kind} is running already; its result will be among the runs`,
      );
    }
    const { outcome, counts, error } = await this.#begin(job, handler).ended;
    if (outcome === "done") return counts ?? {};
    if (outcome === "failed" || outcome === "dead") throw error;
    throw new AppError("UNAVAILABLE", `${kind} was interrupted and will run again`, {
      cause: error,
    });
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const attempt of this.#attempts) attempt.stop();
    const ends: Promise<unknown>[] = [...this.#attempts].map(({ ended }) => ended);
    if (this.#looking) ends.push(this.#looking);
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, STOP_WITHIN_MS);
    await Promise.race([Promise.allSettled(ends), limit.promise]);
    clearTimeout(timer);
  }

  #lookAndTell(what: "jobs" | "everything"): void {
    this.#look(what).catch((error: unknown) => {
      this.#deps.log.error({ err: error }, "looking for due jobs failed");
    });
  }

  /** One look at a time; what is wanted meanwhile is looked for before it ends. */
  #look(what: "jobs" | "everything"): Promise<void> {
    if (this.#isStopping) return this.#looking ?? Promise.resolve();
    if (this.#wanted !== "everything") this.#wanted = what;
    this.#looking ??= this.#lookWhileWanted();
    return this.#looking;
  }

  async #lookWhileWanted(): Promise<void> {
    try {
      while (this.#wanted !== "nothing" && !this.#isStopping) {
        const wanted = this.#wanted;
        this.#wanted = "nothing";
        if (wanted === "everything") {
          await this.#takeBack();
          await this.#enqueueSlots();
        }
        await this.#fill();
      }
    } finally {
      this.#looking = undefined;
      this.#wanted = "nothing";
    }
  }

  async #takeBack(): Promise<void> {
    const { leases, clock, log, metrics } = this.#deps;
    const lost = await this.#transaction((tx) =>
      leases.takeBack(this.#kinds, clock(), LEASE_MS, tx),
    );
    for (const job of lost) {
      // Its process stood still and is this one: whoever still works on it hears of it before it is begun again.
      for (const attempt of this.#attempts) if (attempt.job.id === job.id) attempt.lose();
      const fields = { job: job.id, kind: job.kind, attempt: job.attempts };
      metrics.job(job.kind, "lost");
      const handler = this.#handlerOf(job.kind);
      if (job.attempts < MAX_ATTEMPTS || !handler) {
        log.warn(fields, "a job was taken back from a process that is gone");
        continue;
      }
      await tellDead(handler, job, log);
      await this.#transaction((tx) => leases.bury(job, clock(), tx));
      metrics.job(job.kind, "dead");
      log.error({ ...fields, state: "dead" }, "every attempt ended with its process");
    }
  }

  async #enqueueSlots(): Promise<void> {
    const { queue, handlers, clock, metrics } = this.#deps;
    const now = clock();
    const due = handlers
      .flatMap((handler) => lastSlots(handler, now, 1))
      .filter(({ kind, at }) => this.#slots.get(kind) !== at.getTime());
    const oldest = await this.#transaction(async (tx) => {
      for (const slot of due) {
        const job = { kind: slot.kind, orgId: null, payload: {}, runAt: now };
        await queue.enqueue({ ...job, dedupeKey: slotKey(slot) }, now, tx);
      }
      return queue.oldestDue(now, tx);
    });
    for (const { kind, at } of due) this.#slots.set(kind, at.getTime());
    metrics.oldestDueJob(oldest ? (now.getTime() - oldest.getTime()) / 1000 : 0);
  }

  async #fill(): Promise<void> {
    const { queue, clock } = this.#deps;
    for (;;) {
      const free = this.#freeHandlers();
      if (this.#isStopping || free.length === 0) return;
      const job = await this.#transaction((tx) => queue.claim(free, clock(), LEASE_MS, tx));
      const handler = job && this.#handlerOf(job.kind);
      if (!handler) return;
      if (this.#isStopping) return this.#release(job);
      void this.#begin(job, handler);
    }
  }

  #freeHandlers(): JobHandler[] {
    const running = [...this.#attempts].map(({ job }) => job.kind);
    const isFull = running.length - new Set(running).size >= SHARED_LANES;
    return this.#deps.handlers.filter(
      ({ kind, exclusive }) => !running.includes(kind) || !(isFull || exclusive),
    );
  }

  #begin(job: ClaimedJob, handler: JobHandler): Attempt {
    const attempt = new Attempt(job, handler, this.#deps);
    this.#begun++;
    this.#attempts.add(attempt);
    void attempt.ended.then(({ outcome }) => {
      this.#attempts.delete(attempt);
      this.#deps.metrics.job(job.kind, outcome);
      this.wake();
    });
    return attempt;
  }

  async #release(job: ClaimedJob): Promise<void> {
    const { leases, clock } = this.#deps;
    await this.#transaction((tx) => leases.release(job, clock(), tx));
  }

  #handlerOf(kind: string): JobHandler | undefined {
    return this.#deps.handlers.find((handler) => handler.kind === kind);
  }

  #transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#deps.transactions.system("job queue", work);
  }
}
