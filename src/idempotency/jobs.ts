import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { IdempotencyRepository } from "./repository.ts";

const DAY_MS = 86_400_000;
/** No client retries a call after a week. */
const KEEP_DAYS = 7;

/** Forgets the answers of calls that nobody will retry. */
export function forgetAnswersJob(
  calls: IdempotencyRepository,
  transactions: Transactions,
  clock: Clock,
): JobHandler {
  return {
    kind: "idempotency.forget",
    cron: "12 0 * * *",
    async run() {
      const before = new Date(clock().getTime() - KEEP_DAYS * DAY_MS);
      await transactions.system("retention", (tx) => calls.deleteBefore(before, tx));
    },
  };
}
