import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { CodeRepository } from "./code-repository.ts";

/** Forgets codes that are of no use any more. */
export function forgetCodesJob(
  codes: CodeRepository,
  transactions: Transactions,
  clock: Clock,
): JobHandler {
  return {
    kind: "links.codes",
    cron: "23 * * * *",
    async run() {
      const now = clock();
      const deleted = await transactions.system("retention", (tx) => codes.deleteExpired(now, tx));
      return { deleted };
    },
  };
}
