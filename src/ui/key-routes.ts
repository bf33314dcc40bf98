import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { NewKey } from "../access/service.ts";
import { AppError } from "../errors.ts";
import { address } from "./address.ts";
import type { AdminPages } from "./admin-routes.ts";
import { render } from "./layout.ts";
import { KeyMadePage } from "./pages/key-made.ts";
import { type DraftKey, KeysPage } from "./pages/keys.ts";
import { NewKeyPage } from "./pages/new-key.ts";
import { blank, parse } from "./parse.ts";
import type { Viewer } from "./viewer.ts";

/** People that a search offers for a key to be bound to. */
const OFFERED = 8;

const Query = z.object({ done: z.string().optional() });
const WithId = z.object({ id: z.string() });
const Draft = z.object({
  name: z.string().max(200).default(""),
  role: z.string().max(20).default("member"),
  defaultAgent: z.string().max(100).default(""),
  person: z.string().trim().max(320).default(""),
  pinUserId: blank(z.uuid().optional()),
  pinStoreId: blank(z.uuid().optional()),
  pinAgentId: z.string().max(100).default(""),
});

export function keyRoutes(app: FastifyInstance, pages: AdminPages): void {
  const { viewers, keys, channels, orgs, people } = pages;

  app.get("/keys", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { done } = parse(Query, request.query);
    const listed = await keys.list(principal);
    const stores = await orgs.listStores(principal);
    const page = html`<${KeysPage}
      viewer=${viewer}
      keys=${listed}
      stores=${new Map(stores.map(({ id, name }) => [id, name]))}
      accounts=${await channels.list(principal)}
      done=${done}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });

  const showForm = async (
    reply: FastifyReply,
    { viewer, draft, fault }: { viewer: Viewer; draft: DraftKey; fault?: string },
  ) => {
    const { principal } = viewer;
    const { person, pinUserId } = draft;
    const search = person || pinUserId;
    const found = search === undefined ? undefined : await people.list(principal, { search });
    const page = html`<${NewKeyPage}
      viewer=${viewer}
      draft=${draft}
      stores=${await orgs.listStores(principal)}
      found=${found?.people.slice(0, OFFERED)}
      hasMore=${(found?.people.length ?? 0) > OFFERED}
      fault=${fault}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  };

  app.get("/keys/new", (request, reply) =>
    showForm(reply, { viewer: viewers.of(request), draft: parse(Draft, request.query) }),
  );

  app.post("/keys", async (request, reply) => {
    const viewer = viewers.of(request);
    const draft = parse(Draft, request.body);
    const { name, role, defaultAgent, person, pinStoreId, pinAgentId } = draft;
    // Who empties the field wants nobody any more, whatever is still ticked below it.
    const pinUserId = person === "" ? undefined : draft.pinUserId;
    if (person !== "" && pinUserId === undefined) {
      // Without a choice the key would be bound to nobody, which its maker did not mean.
      return showForm(reply.code(400), { viewer, draft, fault: "Choose who the key is for." });
    }
    const wanted = { name, role, defaultAgent, pinUserId, pinStoreId, pinAgentId };
    try {
      const filled = Object.entries(wanted).filter(([, value]) => value !== "" && value);
      const { key, info } = await keys.create(
        viewer.principal,
        parse(NewKey, Object.fromEntries(filled)),
      );
      const page = html`<${KeyMadePage} viewer=${viewer} secret=${key} info=${info} />`;
      // Not a redirect: the key is in this answer and nowhere else.
      return await reply.code(201).type("text/html; charset=utf-8").send(render(page));
    } catch (error) {
      const isTheirs =
        error instanceof AppError && ["INVALID_INPUT", "FORBIDDEN"].includes(error.code);
      if (!isTheirs || error.message.includes("admin key")) throw error;
      return showForm(reply.code(400), { viewer, draft, fault: error.message });
    }
  });

  app.post("/keys/:id/revoke", async (request, reply) => {
    await keys.revoke(viewers.of(request).principal, parse(WithId, request.params).id);
    return reply.redirect(address("/keys", { done: "key_revoked" }), 303);
  });
}
