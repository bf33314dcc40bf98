import { z } from "zod";
import type { Job, JobHandler } from "../jobs/handler.ts";
import type { Extraction } from "./extraction.ts";
import { EXTRACT_JOB } from "./turn.ts";

const Payload = z.object({ turnId: z.string() });

/** Learns from one turn: queued as the turn opens, for when it would close alone, or as it closes. */
export function extractionJob(extraction: Extraction): JobHandler {
  return {
    kind: EXTRACT_JOB,
    run: (job, { signal }) => extraction.run({ ...turnOf(job), attempt: job.attempts }, signal),
    async onDead(job) {
      const { orgId, turnId } = turnOf(job);
      await extraction.giveUp(orgId, turnId);
    },
  };
}

function turnOf({ orgId, payload }: Job): { orgId: string; turnId: string } {
  if (orgId === null) throw new Error("a turn belongs to an org");
  return { orgId, ...Payload.parse(JSON.parse(payload)) };
}
