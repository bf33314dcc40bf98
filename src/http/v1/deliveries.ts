import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { type Deliveries, DeliveryQuery } from "../../channels/deliveries.ts";
import { parse, WithId } from "./parse.ts";

/** What is forwarded to the agent runtime: what waits, what was given up, and trying that again. */
export function deliveryRoutes(
  app: FastifyInstance,
  deliveries: Deliveries,
  by: (request: FastifyRequest) => Principal,
): void {
  app.get("/v1/deliveries", (request) =>
    deliveries.list(by(request), parse(DeliveryQuery, request.query)),
  );
  app.post("/v1/deliveries/replay", (request) => deliveries.replayAll(by(request)));
  app.post("/v1/deliveries/:id/replay", (request) =>
    deliveries.replay(by(request), parse(WithId, request.params).id),
  );
}
