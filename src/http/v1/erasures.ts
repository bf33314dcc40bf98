import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { type Principal, requireOwner } from "../../access/principal.ts";
import { type Erasure, NewErasure, NewReset } from "../../erasure/erasure.ts";
import { ERASE_JOB, SCRUB_JOB } from "../../erasure/progress.ts";
import { ErasureQuery, type ErasureService } from "../../erasure/service.ts";
import type { JobService } from "../../jobs/service.ts";
import { parse, WithId } from "./parse.ts";

/** Body of `POST /v1/erasures/verify`: an entry, by its id or as `GET /v1/erasures/:id` gave it. */
const Verify = z.looseObject({ id: z.string() });

/** Erasing, and the proof of it. Owners only. */
export function erasureRoutes(
  app: FastifyInstance,
  { erasures, jobs }: { readonly erasures: ErasureService; readonly jobs: JobService },
  by: (request: FastifyRequest) => Principal,
): void {
  app.get("/v1/erasures", (request) =>
    erasures.list(by(request), parse(ErasureQuery, request.query)),
  );
  app.post("/v1/erasures", async (request, reply) => {
    const entry = await erasures.erase(by(request), parse(NewErasure, request.body));
    return reply.code(202).send(entry);
  });
  app.get("/v1/erasures/:id", (request) =>
    erasures.find(by(request), parse(WithId, request.params).id),
  );
  app.post("/v1/erasures/verify", (request) => {
    const { id, ...report } = parse(Verify, request.body);
    const isReport = Object.keys(report).length > 0;
    return erasures.verify(by(request), id, isReport ? ({ id, ...report } as Erasure) : undefined);
  });
  // Here and now, for who waits: everything that is open, of every org, and then the files.
  app.post("/v1/erasures/run", async (request) => {
    requireOwner(by(request));
    const erased = await jobs.runNow(by(request), ERASE_JOB);
    return { ...erased, ...(await jobs.runNow(by(request), SCRUB_JOB)) };
  });
  app.post("/v1/resets", async (request, reply) => {
    const entry = await erasures.reset(by(request), parse(NewReset, request.body));
    return reply.code(202).send(entry);
  });
}
