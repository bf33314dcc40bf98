import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { requireAdmin } from "../access/principal.ts";
import { DuplicatePair, type Duplicates, DuplicatesQuery } from "../facts/duplicates.ts";
import { InboxQuery, type OrgReview, WatchQuery } from "../facts/org-review.ts";
import { CorrectionFact, type TurnService } from "../turns/service.ts";
import { address } from "./address.ts";
import { render } from "./layout.ts";
import { CorrectionsPage } from "./pages/corrections.ts";
import { DuplicatesPage } from "./pages/duplicates.ts";
import { InboxPage } from "./pages/inbox.ts";
import { WatchScreen } from "./pages/watch.ts";
import { parse } from "./parse.ts";
import type { Places } from "./places.ts";
import type { Viewers } from "./viewer.ts";

const Done = z.object({ done: z.string().optional() });
const TurnPath = z.object({ id: z.string().max(64) });
const CorrectionForm = z.object({ key: z.string().trim(), value: z.string().trim().min(1) });

interface ReviewOptions {
  readonly viewers: Viewers;
  readonly places: Places;
  readonly orgReview: OrgReview;
  readonly duplicates: Duplicates;
  readonly turns: TurnService;
}

/** What waits for somebody's decision, and what was learned of others. */
export function reviewRoutes(app: FastifyInstance, options: ReviewOptions): void {
  const { viewers, places, orgReview, duplicates, turns } = options;

  app.get("/inbox", async (request, reply) => {
    const viewer = viewers.of(request);
    const query = parse(InboxQuery, request.query);
    const page = await orgReview.contradictions(viewer.principal, query);
    reply.type("text/html; charset=utf-8");
    return render(html`<${InboxPage}
      viewer=${viewer}
      page=${page}
      names=${await places.names(viewer.principal, page.contests)}
      before=${query.before}
      done=${parse(Done, request.query).done}
    />`);
  });

  app.get("/inbox/corrections", async (request, reply) => {
    const viewer = viewers.of(request);
    const corrections = await turns.pendingCorrections(viewer.principal);
    const people = corrections.map(({ turn: { userId } }) => ({ scope: "user" as const, userId }));
    reply.type("text/html; charset=utf-8");
    return render(html`<${CorrectionsPage}
      viewer=${viewer}
      corrections=${corrections}
      names=${await places.names(viewer.principal, people)}
      done=${parse(Done, request.query).done}
    />`);
  });

  app.post("/inbox/corrections/:id", async (request, reply) => {
    const { principal } = viewers.of(request);
    requireAdmin(principal);
    const { id } = parse(TurnPath, request.params);
    const fact = parse(CorrectionFact, parse(CorrectionForm, request.body));
    await turns.remember(principal, id, fact);
    return reply.redirect(address("/inbox/corrections", { done: "remembered" }), 303);
  });

  app.post("/inbox/corrections/:id/dismiss", async (request, reply) => {
    await turns.dismiss(viewers.of(request).principal, parse(TurnPath, request.params).id);
    return reply.redirect(address("/inbox/corrections", { done: "laid_aside" }), 303);
  });

  app.get("/duplicates", async (request, reply) => {
    const viewer = viewers.of(request);
    const query = parse(DuplicatesQuery, request.query);
    const page = await duplicates.list(viewer.principal, query);
    const first = page.duplicates.map((pair) => pair.first);
    reply.type("text/html; charset=utf-8");
    return render(html`<${DuplicatesPage}
      viewer=${viewer}
      page=${page}
      names=${await places.names(viewer.principal, first)}
      before=${query.before}
      done=${parse(Done, request.query).done}
    />`);
  });

  app.post("/duplicates", async (request, reply) => {
    await duplicates.dismiss(viewers.of(request).principal, parse(DuplicatePair, request.body));
    return reply.redirect(address("/duplicates", { done: "two_things" }), 303);
  });

  app.get("/watch", async (request, reply) => {
    const viewer = viewers.of(request);
    const query = parse(WatchQuery, request.query);
    const page = await orgReview.watch(viewer.principal, query);
    reply.type("text/html; charset=utf-8");
    return render(html`<${WatchScreen}
      viewer=${viewer}
      page=${page}
      names=${await places.names(viewer.principal, page.facts)}
      query=${query}
    />`);
  });
}
