import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { AuditQuery } from "../audit/service.ts";
import type { AdminPages } from "./admin-routes.ts";
import { render } from "./layout.ts";
import { AuditPage } from "./pages/audit.ts";
import { blank, parse } from "./parse.ts";

const PAGE = 50;

const { subjectKind, subjectId, actor, action, before } = AuditQuery.shape;
const Query = z.object({
  subjectKind: blank(subjectKind),
  subjectId: blank(subjectId),
  actor: blank(actor),
  action: blank(action),
  before,
});

export function auditRoutes(app: FastifyInstance, pages: AdminPages): void {
  const { viewers, audit } = pages;
  app.get("/audit", async (request, reply) => {
    const viewer = viewers.of(request);
    const query = parse(Query, request.query);
    const page = html`<${AuditPage}
      viewer=${viewer}
      query=${query}
      page=${await audit.list(viewer.principal, { ...query, limit: PAGE })}
      names=${await pages.keyNames(viewer.principal)}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });
}
