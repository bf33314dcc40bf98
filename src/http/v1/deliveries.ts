import { z } from "zod";
import { type Deliveries, DeliveryQuery } from "../../channels/deliveries.ts";
import { Id, NextBefore, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const Delivery = z
  .strictObject({
    id: Id,
    userId: Id,
    event: z.enum(["message.received", "message.edited", "message.deleted", "identity.linked"]),
    messageId: Id,
    channel: z.string(),
    account: z.string(),
    state: z.enum(["pending", "dead"]),
    attempts: z.int(),
    lastError: z.string().nullable(),
    createdAt: Time,
    triedSince: Time.nullable(),
    diedAt: Time.nullable(),
  })
  .meta({ id: "Delivery" });

const params = z.object({ deliveryId: z.string() });

/** What is forwarded to the agent runtime: what waits, what was given up, and trying that again. */
export const deliveryRoutes = (deliveries: Deliveries): Route[] => [
  route({
    method: "GET",
    url: "/v1/deliveries",
    id: "listDeliveries",
    section: "Operations",
    summary: "What was not forwarded",
    description:
      "Deliveries to the agent runtime, newest first: ids and states, no contents. `dead` ones were given up after a day.",
    caller: "admin",
    query: DeliveryQuery,
    answer: z.strictObject({ deliveries: z.array(Delivery), nextBefore: NextBefore }),
    handle: ({ by, query }) => deliveries.list(by, query),
  }),
  route({
    method: "POST",
    url: "/v1/deliveries/replay",
    id: "replayDeliveries",
    section: "Operations",
    summary: "Forward all that was given up again",
    caller: "admin",
    answer: z.strictObject({ replayed: z.int() }),
    handle: ({ by }) => deliveries.replayAll(by),
  }),
  route({
    method: "POST",
    url: "/v1/deliveries/:deliveryId/replay",
    id: "replayDelivery",
    section: "Operations",
    summary: "Forward one message again",
    description: "For another day where it was given up; one that waits is tried now.",
    caller: "admin",
    errors: ["NOT_FOUND"],
    params,
    answer: Delivery,
    handle: ({ by, params: { deliveryId } }) => deliveries.replay(by, deliveryId),
  }),
];
