import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { hasRole } from "../access/principal.ts";
import { DeliveryQuery } from "../channels/deliveries.ts";
import { JobQuery, RunQuery } from "../jobs/service.ts";
import { TurnQuery } from "../turns/service.ts";
import { address } from "./address.ts";
import type { AdminPages } from "./admin-routes.ts";
import { render } from "./layout.ts";
import { DeadLettersPage } from "./pages/dead-letters.ts";
import { JobRunsPage } from "./pages/job-runs.ts";
import { JobsPage } from "./pages/jobs.ts";
import { parse } from "./parse.ts";

const PAGE = 20;

const JobsQuery = z.object({
  kind: RunQuery.shape.kind,
  before: RunQuery.shape.before,
  done: z.string().optional(),
});
const LettersQuery = z.object({
  turns: z.string().optional(),
  deliveries: z.string().optional(),
  done: z.string().optional(),
});
const WithId = z.object({ id: z.string() });
const StartForm = z.object({ kind: z.string().min(1).max(100) });

/** What the server does by itself, and what it gave up. */
export function jobRoutes(app: FastifyInstance, pages: AdminPages): void {
  const { viewers, jobs, turns, deliveries, people } = pages;

  app.get("/jobs", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { kind, before, done } = parse(JobsQuery, request.query);
    const of = (query: object) => jobs.list(principal, parse(JobQuery, { limit: PAGE, ...query }));
    const page =
      kind === undefined
        ? html`<${JobsPage}
            viewer=${viewer}
            schedule=${await jobs.schedule(principal)}
            running=${(await of({ state: "running" })).jobs}
            dead=${(await of({ state: "dead" })).jobs}
            mayStart=${hasRole(principal, "owner")}
            done=${done}
          />`
        : html`<${JobRunsPage}
            viewer=${viewer}
            kind=${kind}
            page=${await jobs.runs(principal, { kind, before, limit: PAGE })}
            isLater=${before !== undefined}
          />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });

  app.post("/jobs/start", async (request, reply) => {
    const { kind } = parse(StartForm, request.body);
    await jobs.start(viewers.of(request).principal, kind);
    return reply.redirect(address("/jobs", { done: "job_started" }), 303);
  });

  app.post("/jobs/:id/replay", async (request, reply) => {
    await jobs.replay(viewers.of(request).principal, parse(WithId, request.params).id);
    return reply.redirect(address("/jobs", { done: "replayed" }), 303);
  });

  app.get("/dead-letters", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const {
      turns: beforeTurn,
      deliveries: beforeDelivery,
      done,
    } = parse(LettersQuery, request.query);
    const given = { limit: PAGE };
    const dead = await turns.list(principal, parse(TurnQuery, { ...given, before: beforeTurn }));
    const letters = await deliveries.list(
      principal,
      parse(DeliveryQuery, { ...given, before: beforeDelivery }),
    );
    const userIds = [...dead.turns, ...letters.deliveries].map(({ userId }) => userId);
    const page = html`<${DeadLettersPage}
      viewer=${viewer}
      turns=${dead}
      deliveries=${letters}
      people=${await people.byIds(principal, userIds)}
      before=${{ turns: beforeTurn, deliveries: beforeDelivery }}
      done=${done}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });

  const lettersDone = address("/dead-letters", { done: "replayed" });

  app.post("/dead-letters/turns", async (request, reply) => {
    await turns.retryAll(viewers.of(request).principal);
    return reply.redirect(lettersDone, 303);
  });

  app.post("/dead-letters/turns/:id", async (request, reply) => {
    await turns.retry(viewers.of(request).principal, parse(WithId, request.params).id);
    return reply.redirect(lettersDone, 303);
  });

  app.post("/dead-letters/deliveries", async (request, reply) => {
    await deliveries.replayAll(viewers.of(request).principal);
    return reply.redirect(lettersDone, 303);
  });

  app.post("/dead-letters/deliveries/:id", async (request, reply) => {
    await deliveries.replay(viewers.of(request).principal, parse(WithId, request.params).id);
    return reply.redirect(lettersDone, 303);
  });
}
