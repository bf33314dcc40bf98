import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { isAdmin } from "../access/principal.ts";
import type { ChatArchive } from "../chat/archive.ts";
import type { FactReview } from "../facts/review.ts";
import type { KvReview } from "../kv/review.ts";
import type { LinkService } from "../links/service.ts";
import { type Approval, NewStatus } from "../users/approval.ts";
import { type People, PeopleQuery } from "../users/people.ts";
import { UserId, UserStatus } from "../users/person.ts";
import { address, personAddress } from "./address.ts";
import { render } from "./layout.ts";
import { PeopleScreen } from "./pages/people.ts";
import { PersonPage } from "./pages/person.ts";
import { blank, parse } from "./parse.ts";
import type { Viewers } from "./viewer.ts";

/** Of facts, entries and messages, on a person's page. */
const FIRST = 5;
const LINKS = 20;

const ListQuery = z.object({
  search: blank(PeopleQuery.shape.search),
  status: blank(UserStatus.optional()),
  before: PeopleQuery.shape.before,
  done: z.string().optional(),
});
export const PersonPath = z.object({ id: UserId });
const Done = z.object({ done: z.string().optional() });
const StatusForm = z.object({
  status: NewStatus.shape.status,
  reason: NewStatus.shape.reason,
  from: z.enum(["list", "person"]).default("person"),
});

interface PeopleOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly approval: Approval;
  readonly links: LinkService;
  readonly review: FactReview;
  readonly entries: KvReview;
  readonly archive: ChatArchive;
}

export function peopleRoutes(app: FastifyInstance, options: PeopleOptions): void {
  const { viewers, people, approval, links, review, entries, archive } = options;

  app.get("/people", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { done, ...query } = parse(ListQuery, request.query);
    const { search, status, before } = query;
    const isFirst = !search && status === undefined && before === undefined;
    const showsWaiting = isFirst && principal.pins.userId === undefined;
    reply.type("text/html; charset=utf-8");
    return render(html`<${PeopleScreen}
      viewer=${viewer}
      found=${await people.list(principal, query)}
      waiting=${showsWaiting ? await people.list(principal, { status: "pending" }) : undefined}
      query=${query}
      done=${done}
    />`);
  });

  app.get("/people/:id", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { id } = parse(PersonPath, request.params);
    const person = await people.detail(principal, id);
    const userId = person.id;
    const strongest = { limit: FIRST };
    const journal = isAdmin(principal)
      ? await links.list(principal, { userId, limit: LINKS })
      : undefined;
    reply.type("text/html; charset=utf-8");
    return render(html`<${PersonPage}
      viewer=${viewer}
      person=${person}
      facts=${await review.list(principal, { scope: "user", userId }, strongest)}
      entries=${await entries.list(principal, { userId, limit: FIRST })}
      chat=${await archive.of(principal, { userId, limit: FIRST })}
      links=${journal?.links}
      done=${parse(Done, request.query).done}
    />`);
  });

  app.post("/people/:id/status", async (request, reply) => {
    const { principal } = viewers.of(request);
    const { id } = parse(PersonPath, request.params);
    const { from, ...decision } = parse(StatusForm, request.body);
    const { userId, status } = await approval.decide(principal, id, decision);
    const next =
      from === "list"
        ? address("/people", { done: status })
        : personAddress(userId, { done: status });
    return reply.redirect(next, 303);
  });
}
