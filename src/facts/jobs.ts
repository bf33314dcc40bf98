import type { JobHandler } from "../jobs/handler.ts";
import type { Consolidation } from "./consolidation.ts";

/** Folds every key that changed, fades or expires. */
export function consolidateJob(consolidation: Consolidation, cron: string): JobHandler {
  return {
    kind: "facts.consolidate",
    cron,
    exclusive: true,
    run: (_job, { signal }) => consolidation.run({ signal }),
  };
}

/** Deletes what expired within the hour, so that a TTL means what it says however seldom consolidation runs. */
export function expireJob(consolidation: Consolidation): JobHandler {
  return {
    kind: "facts.expire",
    cron: "17 * * * *",
    exclusive: true,
    run: (_job, { signal }) => consolidation.run({ signal, only: "expired" }),
  };
}
