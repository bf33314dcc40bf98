import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { Tags, TierName } from "../facts/fact.ts";
import type { FactReview } from "../facts/review.ts";
import type { OrgService } from "../orgs/service.ts";
import { type People, PeopleQuery } from "../users/people.ts";
import { render } from "./layout.ts";
import { FactsPage } from "./pages/facts.ts";
import { WherePage } from "./pages/where.ts";
import { blank, parse } from "./parse.ts";
import { PlaceQuery, type Places } from "./places.ts";
import type { Viewer, Viewers } from "./viewer.ts";

const PAGE = 50;

const ListQuery = PlaceQuery.extend({
  agent: blank(AgentId.optional()),
  all: z.literal("1").optional(),
  q: blank(z.string().max(200).optional()),
  tier: blank(TierName.optional()),
  tag: blank(Tags.element.optional()),
  only: blank(z.enum(["pinned", "contested", "archived"]).optional()),
  before: z.string().max(200).optional(),
  done: z.string().optional(),
});

/** Without a scope the page asks for one. */
const WhereQuery = z.object({ scope: z.string().optional() });

interface ListOptions {
  readonly viewers: Viewers;
  readonly places: Places;
  readonly orgs: OrgService;
  readonly people: People;
  readonly review: FactReview;
}

export function listRoutes(app: FastifyInstance, options: ListOptions): void {
  const { viewers, places, orgs, people, review } = options;

  const showWhere = async (viewer: Viewer, reply: FastifyReply, given: unknown) => {
    const query = parse(PeopleQuery, given);
    const page = html`<${WherePage}
      viewer=${viewer}
      stores=${await orgs.visibleStores(viewer.principal)}
      people=${await people.list(viewer.principal, query)}
      search=${query.search}
      isLater=${query.before !== undefined}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  };

  app.get("/facts", async (request, reply) => {
    const viewer = viewers.of(request);
    if (parse(WhereQuery, request.query).scope === undefined) {
      return showWhere(viewer, reply, request.query);
    }
    const { agent, all, q, tier, tag, only, before, done, ...given } = parse(
      ListQuery,
      request.query,
    );
    const named = await places.find(viewer.principal, given);
    const query = {
      ...{ agentId: agent, all: all === "1" || only !== undefined, search: q, tier, tag },
      ...{ pinned: only === "pinned", contested: only === "contested" },
      ...{ archived: only === "archived", before, limit: PAGE },
    };
    const page = html`<${FactsPage}
      viewer=${viewer}
      named=${named}
      query=${query}
      page=${await review.list(viewer.principal, named.place, query)}
      done=${done}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });
}
