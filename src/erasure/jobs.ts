import type { Clock } from "../clock.ts";
import type { JobHandler } from "../jobs/handler.ts";
import { RetryLater } from "../jobs/retry-later.ts";
import { ERASE_JOB, type Progress, SCRUB_JOB } from "./progress.ts";

/** While somebody holds a table. */
const BUSY_MS = 600_000;

export function eraseJob(progress: Progress): JobHandler {
  return {
    kind: ERASE_JOB,
    // What was asked for is done at once; this is for what a process left behind.
    cron: "*/10 * * * *",
    exclusive: true,
    run: (_job, { signal }) => progress.erase(signal),
  };
}

export function scrubJob(progress: Progress, cron: string, clock: Clock): JobHandler {
  return {
    kind: SCRUB_JOB,
    cron,
    exclusive: true,
    async run() {
      const outcome = await progress.scrub();
      if (outcome !== "busy") return { scrubbed: outcome };
      const at = new Date(clock().getTime() + BUSY_MS);
      throw new RetryLater({ at, countsAsAttempt: false });
    },
  };
}
