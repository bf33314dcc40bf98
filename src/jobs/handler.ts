/** Numbers by name of what a run did, e.g. `{ archived: 3 }`. They are shown, so no name may hold personal text. */
export type Counts = Readonly<Record<string, number>>;

/** A job as its handler sees it. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  /** null = the server's own work, over all orgs. */
  readonly orgId: string | null;
  /** JSON text. */
  readonly payload: string;
  /** This attempt's number, from 1. */
  readonly attempts: number;
}

interface JobContext {
  /** Aborts when another process may have taken the job over, and when the server stops: end soon, start nothing new. */
  readonly signal: AbortSignal;
}

export interface JobHandler {
  readonly kind: string;
  /** croner pattern in UTC: one job for each instant it names, over all processes. Absent = only when queued. */
  readonly cron?: string;
  /** At most one job of this kind runs at a time, over all processes. */
  readonly exclusive?: true;
  /**
   * Must be safe to run again: a process may die between the work and the note of it. Must end by itself: while it hangs
   * its lease is renewed.
   *
   * @throws RetryLater to be tried again at a known time; anything else is tried again with backoff
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers count nothing and return nothing
  run(job: Job, context: JobContext): Promise<Counts | void>;
  /** After the last attempt failed, before the job is laid aside. May be called again, as `run` may. */
  onDead?(job: Job): Promise<void>;
}
