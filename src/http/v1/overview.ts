import { z } from "zod";
import { MAX_WAITING } from "../../overview/counts.ts";
import type { OverviewService } from "../../overview/service.ts";
import { Time } from "./answers.ts";
import { Scope } from "./facts.ts";
import { type Route, route } from "./route.ts";

const Facts = z.array(z.strictObject({ scope: Scope, agentId: z.string(), live: z.int() }));

const CountedDay = z
  .strictObject({
    day: z.string().meta({ format: "date" }),
    countedAt: Time,
    counts: z.strictObject({
      people: z.int(),
      messages: z.int(),
      entries: z.int(),
      facts: Facts.meta({ description: "Live ones by scope and agent, most first" }),
    }),
  })
  .meta({ id: "CountedDay" });

const Waiting = z.int().meta({ description: `${MAX_WAITING} says that many or more` });

/** How much is remembered, and what waits for somebody. */
export const overviewRoutes = (overview: OverviewService): Route[] => [
  route({
    method: "GET",
    url: "/v1/overview",
    id: "getOverview",
    section: "Operations",
    summary: "What is remembered, how it grew, and what waits",
    description:
      "Counts of the last eight weeks, and what waits for somebody. `latest` is missing while a large org was not counted yet. Not for keys with pins: `GET /v1/users/:userId` says how much is kept of a person.",
    caller: "member",
    errors: ["FORBIDDEN"],
    answer: z.strictObject({
      latest: CountedDay.optional(),
      days: z.array(CountedDay).meta({ description: "Oldest first" }),
      waiting: z.strictObject({
        contradictions: Waiting,
        duplicates: Waiting,
        pendingPeople: Waiting,
        corrections: Waiting,
        deadLetters: Waiting,
      }),
    }),
    handle: ({ by }) => overview.org(by),
  }),
];
