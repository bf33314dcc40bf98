import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { requireAdmin } from "../access/principal.ts";
import type { LinkCodes } from "../links/codes.ts";
import { NewLinkByHand, UndoLink } from "../links/link.ts";
import type { LinkService } from "../links/service.ts";
import { type People, PeopleQuery } from "../users/people.ts";
import { UserId } from "../users/person.ts";
import { personAddress } from "./address.ts";
import { render } from "./layout.ts";
import { ChooseLinkPage, CodePage, ConfirmLinkPage } from "./pages/link.ts";
import { blank, parse } from "./parse.ts";
import { PersonPath } from "./people-routes.ts";
import type { Viewers } from "./viewer.ts";

const ChooseQuery = z.object({
  search: blank(PeopleQuery.shape.search),
  with: blank(UserId.optional()),
});
const UndoPath = PersonPath.extend({ linkId: z.string() });
const UndoForm = z.object({ reason: blank(UndoLink.shape.reason) });
/** Without the strictness of an API: a form may send fields that nobody asked for. */
const LinkForm = z.object(NewLinkByHand.shape);

interface LinkOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly links: LinkService;
  readonly codes: LinkCodes;
}

/** Who is one person with whom: admins alone see these pages. */
export function linkRoutes(app: FastifyInstance, options: LinkOptions): void {
  const { viewers, people, links, codes } = options;

  app.get("/people/:id/link", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    requireAdmin(principal);
    const { id } = parse(PersonPath, request.params);
    const { search, with: other } = parse(ChooseQuery, request.query);
    const person = await people.detail(principal, id);
    reply.type("text/html; charset=utf-8");
    if (other === undefined) {
      const found = await people.list(principal, { search });
      return render(
        html`<${ChooseLinkPage} viewer=${viewer} person=${person} found=${found} search=${search} />`,
      );
    }
    const chosen = await people.detail(principal, other);
    return render(html`<${ConfirmLinkPage} viewer=${viewer} person=${person} other=${chosen} />`);
  });

  app.post("/people/:id/link", async (request, reply) => {
    const { id } = parse(PersonPath, request.params);
    const form = parse(LinkForm, request.body);
    const link = await links.linkByHand(viewers.of(request).principal, id, form);
    return reply.redirect(personAddress(link.toUserId, { done: "linked" }), 303);
  });

  app.post("/people/:id/links/:linkId/undo", async (request, reply) => {
    const { id, linkId } = parse(UndoPath, request.params);
    const { reason = null } = parse(UndoForm, request.body);
    await links.undo(viewers.of(request).principal, linkId, reason);
    return reply.redirect(personAddress(id, { done: "unlinked" }), 303);
  });

  // The code is in this answer alone: a redirect would have to carry it in an address.
  app.post("/people/:id/code", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { id } = parse(PersonPath, request.params);
    const issued = await codes.issue(principal, id);
    const person = await people.detail(principal, id);
    reply.type("text/html; charset=utf-8");
    return render(html`<${CodePage} viewer=${viewer} person=${person} ...${issued} />`);
  });
}
