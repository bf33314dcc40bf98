import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { DeliveryRepository } from "./delivery-repository.ts";
import type { Forwarder } from "./forwarder.ts";
import { FORWARD_JOB } from "./outbox.ts";

const DAY_MS = 86_400_000;
const KEEP_DEAD_DAYS = 30;
const BATCH = 1_000;

/** Forwards what is due: queued with what is to be forwarded and for the next retry; the slot finds what was missed. */
export function forwardJob(forwarder: Forwarder): JobHandler {
  return {
    kind: FORWARD_JOB,
    cron: "* * * * *",
    run: (_job, { signal }) => forwarder.run(signal),
  };
}

/** Deletes what was given up 30 days ago, and says how long the oldest delivery waits. */
export function deliveriesJob(
  deliveries: DeliveryRepository,
  transactions: Transactions,
  clock: Clock,
  metrics: { oldestForward(seconds: number): void },
): JobHandler {
  return {
    kind: "channels.deliveries",
    cron: "*/5 * * * *",
    async run(_job, { signal }) {
      const now = clock();
      const oldest = await transactions.system("forwarding", (tx) => deliveries.oldestWaiting(tx));
      metrics.oldestForward(oldest ? (now.getTime() - oldest.getTime()) / 1000 : 0);
      const before = new Date(now.getTime() - KEEP_DEAD_DAYS * DAY_MS);
      let deleted = 0;
      let batch: number;
      do {
        batch = await transactions.system("retention", (tx) =>
          deliveries.deleteDead(before, BATCH, tx),
        );
        deleted += batch;
      } while (batch === BATCH && !signal.aborted);
      return { deleted };
    },
  };
}
