import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { type ClaimedJob, type JobQueue, MAX_ATTEMPTS } from "./queue.ts";

/** How often a process looks for due work. */
const POLL_MS = 5_000;
/** Longer than any job runs; a process that dies holds its job back no longer than this. */
const LEASE_MS = 600_000;

export interface JobHandler {
  readonly kind: string;
  /** Runs at most once in each hour or day (UTC) over all processes; absent = only when queued. */
  readonly every?: "hour" | "day";
  /** Must be safe to run again: a process may die after the work and before the note of it. */
  run(job: ClaimedJob): Promise<void>;
}

interface JobLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Every attempt ended with its process: another one would take this process down too. */
class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

interface RunnerDependencies {
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly handlers: readonly JobHandler[];
  readonly clock: Clock;
  readonly log: JobLog;
}

/** Runs due jobs one after another in this process; start it once, stop it before the database closes. */
export class JobRunner {
  readonly #deps: RunnerDependencies;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #busy = false;
  #stopped = false;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), POLL_MS);
    this.#timer.unref();
  }

  /** Resolves when the job that runs now has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Queues the slots that are due and runs everything that is due, or what it can until `stop`. @returns how many jobs ran */
  async runDue(): Promise<number> {
    await this.#enqueueSlots();
    let count = 0;
    while (!this.#stopped && (await this.#runOne())) count++;
    return count;
  }

  #tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#running = this.runDue().then(
      () => {
        this.#busy = false;
      },
      (error: unknown) => {
        this.#busy = false;
        this.#deps.log.error({ err: error }, "looking for due jobs failed");
      },
    );
  }

  async #enqueueSlots(): Promise<void> {
    const { queue, transactions, handlers, clock } = this.#deps;
    const now = clock();
    const slots = handlers.filter((handler) => handler.every !== undefined);
    await transactions.system("job queue", async (tx) => {
      for (const { kind, every } of slots) {
        const dedupeKey = now.toISOString().slice(0, every === "hour" ? 13 : 10);
        await queue.enqueue({ kind, dedupeKey, orgId: null, payload: {}, runAt: now }, now, tx);
      }
    });
  }

  async #runOne(): Promise<boolean> {
    const { queue, transactions, handlers, clock, log } = this.#deps;
    const kinds = handlers.map((handler) => handler.kind);
    const job = await transactions.system("job queue", (tx) =>
      queue.claim(kinds, clock(), LEASE_MS, tx),
    );
    const handler = handlers.find((candidate) => candidate.kind === job?.kind);
    if (!job || !handler) return false;
    const fields = { job: job.id, kind: job.kind, attempt: job.attempts };
    try {
      if (job.attempts > MAX_ATTEMPTS) throw new LeaseLost();
      await handler.run(job);
      await transactions.system("job queue", (tx) => queue.complete(job, clock(), tx));
      log.info(fields, "job done");
    } catch (error) {
      const reason = error instanceof Error ? error.name : "unknown";
      const state = await transactions.system("job queue", (tx) =>
        queue.fail(job, reason, clock(), tx),
      );
      log.error({ ...fields, err: error, state }, "job failed");
    }
    return true;
  }
}
