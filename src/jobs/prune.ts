import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { JobHandler } from "./handler.ts";
import type { JobRepository } from "./repository.ts";
import { lastSlots } from "./slots.ts";

const DAY_MS = 86_400_000;
const KEEP_DAYS = 30;
/** A batch is one short transaction, so that other work goes on between two. */
const BATCH = 1_000;
/** The last one may be queued again by a process that starts, the one before by a process whose clock is behind. */
const KEPT_SLOTS = 2;

/**
 * Deletes jobs and runs 30 days after their end, but for the slots that could still be queued: their rows are what says
 * that they ran, however rare the pattern.
 *
 * @param handlers of all jobs of this server
 */
export function pruneJob(
  repository: JobRepository,
  transactions: Transactions,
  clock: Clock,
  handlers: () => readonly JobHandler[],
): JobHandler {
  const all = async (
    deleteBatch: (tx: Tx) => Promise<number>,
    signal: AbortSignal,
  ): Promise<number> => {
    let total = 0;
    let deleted: number;
    do {
      deleted = await transactions.system("retention", deleteBatch);
      total += deleted;
    } while (deleted === BATCH && !signal.aborted);
    return total;
  };
  return {
    kind: "jobs.prune",
    cron: "47 * * * *",
    async run(_job, { signal }) {
      const now = clock();
      const before = new Date(now.getTime() - KEEP_DAYS * DAY_MS);
      const kept = handlers().flatMap((handler) => lastSlots(handler, now, KEPT_SLOTS));
      const jobs = await all((tx) => repository.deleteEnded(before, kept, BATCH, tx), signal);
      const runs = await all((tx) => repository.deleteRuns(before, BATCH, tx), signal);
      return { jobs, runs };
    },
  };
}
