import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { SessionRepository } from "./session-repository.ts";
import { IDLE_MS } from "./sessions.ts";

/** Deletes sessions that are over or idle. */
export function endSessionsJob(
  sessions: SessionRepository,
  transactions: Transactions,
  clock: Clock,
): JobHandler {
  return {
    kind: "sessions.end",
    cron: "23 * * * *",
    async run() {
      const now = clock();
      return {
        sessions: await transactions.system("retention", (tx) =>
          sessions.deleteEnded(now, new Date(now.getTime() - IDLE_MS), tx),
        ),
      };
    },
  };
}
