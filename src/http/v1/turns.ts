import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { ComparisonQuery, TurnQuery, type TurnService, UsageQuery } from "../../turns/service.ts";
import { parse, WithId } from "./parse.ts";

/** Turns and what was learned from them: what waits, what failed, corrections for a person, arms compared, tokens. */
export function turnRoutes(
  app: FastifyInstance,
  turns: TurnService,
  by: (request: FastifyRequest) => Principal,
): void {
  app.get("/v1/turns", (request) => turns.list(by(request), parse(TurnQuery, request.query)));
  app.post("/v1/turns/:id/retry", (request) =>
    turns.retry(by(request), parse(WithId, request.params).id),
  );
  app.get("/v1/turns/usage", async (request) => ({
    days: await turns.usage(by(request), parse(UsageQuery, request.query).days),
  }));
  app.get("/v1/corrections", async (request) => ({
    corrections: await turns.pendingCorrections(by(request)),
  }));
  app.delete("/v1/corrections/:id", async (request, reply) => {
    await turns.dismiss(by(request), parse(WithId, request.params).id);
    return reply.code(204).send();
  });
  app.get("/v1/ab", (request) => turns.compare(by(request), parse(ComparisonQuery, request.query)));
}
