import { z } from "zod";
import type { JobHandler } from "../jobs/handler.ts";
import { COMPARE_JOB, type Comparison } from "./comparison.ts";
import { CONSOLIDATE_JOB, type Consolidation } from "./consolidation.ts";

/** Folds every key that changed, fades or expires. */
export function consolidateJob(consolidation: Consolidation, cron: string): JobHandler {
  return {
    kind: CONSOLIDATE_JOB,
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

const Compared = z.object({ factId: z.string() });

/** Looks whether a new value says in other words what another one under its key says. */
export function compareJob(comparison: Comparison): JobHandler {
  return {
    kind: COMPARE_JOB,
    run({ orgId, payload }, { signal }) {
      if (orgId === null) throw new Error("a fact belongs to an org");
      return comparison.run({ orgId, ...Compared.parse(JSON.parse(payload)) }, signal);
    },
  };
}
