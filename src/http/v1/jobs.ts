import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { JobQuery, type JobService, RunQuery } from "../../jobs/service.ts";
import { parse, WithId } from "./parse.ts";

/** Jobs, their runs and dead letters; and the consolidation of facts, now rather than at CONSOLIDATE_CRON. */
export function jobRoutes(
  app: FastifyInstance,
  jobs: JobService,
  by: (request: FastifyRequest) => Principal,
): void {
  app.get("/v1/jobs", (request) => jobs.list(by(request), parse(JobQuery, request.query)));
  app.get("/v1/jobs/runs", (request) => jobs.runs(by(request), parse(RunQuery, request.query)));
  app.post("/v1/jobs/:id/replay", (request) =>
    jobs.replay(by(request), parse(WithId, request.params).id),
  );
  app.post("/v1/consolidate", async (request) => ({
    counts: await jobs.runNow(by(request), "facts.consolidate"),
  }));
}
