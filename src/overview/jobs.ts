import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { OverviewRepository } from "./repository.ts";

/** Counts what each org remembers, once a day. */
export function countJob(
  overview: OverviewRepository,
  transactions: Transactions,
  clock: Clock,
): JobHandler {
  return {
    kind: "overview.count",
    cron: "41 2 * * *",
    exclusive: true,
    async run(_job, { signal }) {
      const ids = await transactions.system("operator", (tx) => overview.orgIds(tx));
      let counted = 0;
      for (const orgId of ids) {
        if (signal.aborted) break;
        const countedAt = clock();
        // Each in a transaction of its own: the embedded database has one connection, which others wait for.
        await transactions.tenant({ orgId }, async (tx) => {
          const counts = await overview.count({ orgId }, countedAt, tx);
          await overview.save({ orgId }, { countedAt, counts }, tx);
        });
        counted += 1;
      }
      return { orgs: counted };
    },
  };
}
