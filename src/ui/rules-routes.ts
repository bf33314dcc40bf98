import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { StoreId } from "../orgs/service.ts";
import { tokenCounter } from "../recall/tokens.ts";
import { NewRules, RestoreRules, RulesQuery } from "../rules/rules.ts";
import { address } from "./address.ts";
import type { AdminPages } from "./admin-routes.ts";
import { render } from "./layout.ts";
import { type RefusedRules, RulesPage } from "./pages/rules.ts";
import { RulesVersionPage } from "./pages/rules-version.ts";
import { blank, faultOf, parse } from "./parse.ts";
import type { Viewer } from "./viewer.ts";

const PAGE = 20;
/** 32 KiB of nothing but line breaks, each written as six characters, and the reason. */
const BODY_LIMIT = 256 * 1024;

const Query = z.object({
  storeId: blank(StoreId.optional()),
  before: RulesQuery.shape.before,
  done: z.string().optional(),
});
const VersionPath = z.object({ id: z.string() });
const VersionQuery = z.object({ against: z.string().optional() });
const Written = z.object({
  storeId: blank(StoreId.optional()),
  text: z.string(),
  basedOn: z.string(),
  reason: z.string().default(""),
});
const Restored = z.object({ basedOn: z.string(), reason: z.string().default("") });

export function rulesRoutes(app: FastifyInstance, pages: AdminPages): void {
  const { viewers, rules, recall, orgs } = pages;

  const show = async (
    reply: FastifyReply,
    viewer: Viewer,
    { storeId, before, done }: z.output<typeof Query>,
    refused?: RefusedRules,
  ) => {
    const { principal } = viewer;
    const current = await rules.current(principal, { storeId });
    const query = { storeId, before, limit: PAGE };
    const { versions, nextBefore } = await rules.versions(principal, query);
    const { stableBlock: text, disabled } = await recall.stableBlock(principal, { storeId });
    const tokens = text === "" ? 0 : (await tokenCounter())(text);
    const page = html`<${RulesPage}
      viewer=${viewer}
      stores=${await orgs.listStores(principal)}
      current=${current}
      versions=${versions}
      nextBefore=${nextBefore}
      block=${{ text, tokens, disabled }}
      names=${await pages.keyNames(principal)}
      done=${done}
      refused=${refused}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  };

  app.get("/rules", (request, reply) =>
    show(reply, viewers.of(request), parse(Query, request.query)),
  );

  app.post("/rules", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const viewer = viewers.of(request);
    const { storeId, text, basedOn, reason } = parse(Written, request.body);
    try {
      const why = reason.trim() && { reason };
      const written = parse(NewRules, { storeId, text, basedOn, ...why });
      await rules.save(viewer.principal, written);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const status = { CONFLICT: 409, INVALID_INPUT: 400 }[error.code as string];
      if (status === undefined) throw error;
      // Their text stays in the form, which is now based on what the other one saved.
      const fault = faultOf(error);
      return show(reply.code(status), viewer, { storeId }, { text, reason, fault });
    }
    return reply.redirect(address("/rules", { storeId, done: "rules_saved" }), 303);
  });

  app.get("/rules/versions/:id", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { id } = parse(VersionPath, request.params);
    const { against } = parse(VersionQuery, request.query);
    const diff = await rules.diff(principal, id, against);
    const storeId = diff.after.storeId ?? undefined;
    const store = storeId && (await orgs.visibleStore(principal, storeId)).name;
    const page = html`<${RulesVersionPage}
      viewer=${viewer}
      store=${store}
      diff=${diff}
      current=${await rules.current(principal, { storeId })}
      names=${await pages.keyNames(principal)}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });

  app.post("/rules/versions/:id/restore", async (request, reply) => {
    const { principal } = viewers.of(request);
    const { id } = parse(VersionPath, request.params);
    const { basedOn, reason } = parse(Restored, request.body);
    const restore = parse(RestoreRules, { basedOn, ...(reason.trim() && { reason }) });
    const { storeId } = await rules.restore(principal, id, restore);
    return reply.redirect(address("/rules", { storeId, done: "rules_restored" }), 303);
  });
}
