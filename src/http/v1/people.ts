import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Principal } from "../../access/principal.ts";
import { requireAdmin } from "../../access/principal.ts";
import { AuditQuery, type AuditService } from "../../audit/service.ts";
import { LinkQuery, NewLinkByHand, UndoLink } from "../../links/link.ts";
import type { LinkService } from "../../links/service.ts";
import { type Approval, NewStatus } from "../../users/approval.ts";
import { type People, PeopleQuery } from "../../users/people.ts";
import { UserId } from "../../users/person.ts";
import { parse, WithId } from "./parse.ts";

const OfUser = z.object({ userId: UserId });

export interface PeopleServices {
  readonly people: People;
  readonly approval: Approval;
  readonly links: LinkService;
  readonly audit: AuditService;
}

/** Who the org's people are: approval, links between them, and who decided so. */
export function peopleRoutes(
  app: FastifyInstance,
  { people, approval, links, audit }: PeopleServices,
  by: (request: FastifyRequest) => Principal,
): void {
  app.get("/v1/users", (request) => {
    requireAdmin(by(request));
    return people.list(by(request), parse(PeopleQuery.strict(), request.query));
  });
  app.put("/v1/users/:userId/status", (request) => {
    const { userId } = parse(OfUser, request.params);
    return approval.decide(by(request), userId, parse(NewStatus, request.body));
  });
  app.post("/v1/users/:userId/links", async (request, reply) => {
    const { userId } = parse(OfUser, request.params);
    const link = await links.linkByHand(by(request), userId, parse(NewLinkByHand, request.body));
    return reply.code(201).send(link);
  });
  app.get("/v1/links", (request) => links.list(by(request), parse(LinkQuery, request.query)));
  app.post("/v1/links/:id/undo", (request) => {
    const { reason = null } = parse(UndoLink, request.body ?? {});
    return links.undo(by(request), parse(WithId, request.params).id, reason);
  });
  app.get("/v1/audit", (request) => audit.list(by(request), parse(AuditQuery, request.query)));
}
