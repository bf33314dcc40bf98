import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { JobHandler } from "../jobs/handler.ts";
import { UNFINISHED, withFailure } from "./failed-sending.ts";
import type { ChatRepository } from "./repository.ts";
import type { SendingRepository } from "./sending-repository.ts";

const DAY_MS = 86_400_000;
/** A batch is one short transaction, so that the archive goes on between two. */
const BATCH = 1_000;
/** Telegram delivers for a day, others for a few; a week is safe. */
const KEEP_UPDATES_DAYS = 7;
/** Much longer than sending takes with all its waiting. */
const UNFINISHED_MS = 600_000;

/** Archives as failed what a process was sending when it ended. */
export function unfinishedJob(
  sending: SendingRepository,
  transactions: Transactions,
  clock: Clock,
): JobHandler {
  return {
    kind: "chat.unfinished",
    cron: "*/5 * * * *",
    exclusive: true,
    run: () =>
      transactions.system("unfinished messages", async (tx) => {
        const before = new Date(clock().getTime() - UNFINISHED_MS);
        const found = await sending.unfinished(before, BATCH, tx);
        for (const message of found) {
          const payload = withFailure(message.payload, UNFINISHED);
          await sending.setFailed(message, message.id, payload, tx);
        }
        return { failed: found.length };
      }),
  };
}

/** Deletes messages older than the operator keeps them (`CHAT_RETENTION_DAYS`; unset = for ever). */
export function retentionJob(
  chat: ChatRepository,
  transactions: Transactions,
  clock: Clock,
  retentionDays: number | undefined,
): JobHandler {
  return {
    kind: "chat.retention",
    cron: "7 * * * *",
    async run(_job, { signal }) {
      const now = clock().getTime();
      const keepUpdatesFrom = new Date(now - KEEP_UPDATES_DAYS * DAY_MS);
      await transactions.system("retention", (tx) => chat.forgetUpdatesBefore(keepUpdatesFrom, tx));
      if (retentionDays === undefined) return { messages: 0 };
      const keepFrom = new Date(now - retentionDays * DAY_MS);
      let messages = 0;
      let deleted: number;
      do {
        deleted = await transactions.system("retention", (tx) =>
          chat.deleteSentBefore(keepFrom, BATCH, tx),
        );
        messages += deleted;
      } while (deleted === BATCH && !signal.aborted);
      return { messages };
    },
  };
}
