import type { Transactions } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { JobHandler } from "../jobs/handler.ts";
import type { SearchMessageRepository } from "./message-repository.ts";
import { INDEX_JOB } from "./moving.ts";
import type { SearchIndex } from "./service.ts";

/** Messages of one transaction: some 100 ms, so that writers of the same archive wait no longer. */
const BATCH = 200;
const FIRST = "00000000-0000-0000-0000-000000000000";

interface Due {
  readonly id: string;
  readonly userId: string | null;
}

/** Indexes messages from before there was an index, and those whose predecessor was deleted. Oldest first, resumable. */
export function indexJob(
  index: SearchIndex,
  messages: SearchMessageRepository,
  transactions: Transactions,
): JobHandler {
  const indexApart = async (orgId: string, rows: readonly Due[]): Promise<number> => {
    try {
      await transactions.tenant({ orgId }, async (tx) => {
        const people = rows.flatMap(({ userId }) => userId ?? []);
        await index.holdPeople({ orgId }, people, tx);
        const ids = rows.map(({ id }) => id);
        await index.indexMessages({ orgId }, ids, tx);
      });
      return 0;
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (rows.length === 1) return 1;
      // One message that cannot be indexed must not keep the others of its batch from it.
      let failed = 0;
      for (const row of rows) failed += await indexApart(orgId, [row]);
      return failed;
    }
  };
  return {
    kind: INDEX_JOB,
    cron: "* * * * *",
    exclusive: true,
    async run(_job, { signal }) {
      let indexed = 0;
      let failed = 0;
      let after = FIRST;
      for (;;) {
        const from = after;
        const due = await transactions.system("due messages", (tx) =>
          messages.due(from, BATCH, tx),
        );
        for (const [orgId, rows] of Map.groupBy(due, (row) => row.orgId)) {
          signal.throwIfAborted();
          const faults = await indexApart(orgId, rows);
          failed += faults;
          indexed += rows.length - faults;
        }
        const last = due.at(-1);
        if (!last || due.length < BATCH) return { indexed, failed };
        after = last.id;
      }
    },
  };
}
