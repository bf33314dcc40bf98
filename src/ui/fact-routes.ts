import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { isAdmin } from "../access/principal.ts";
import type { KeyService } from "../access/service.ts";
import { AppError } from "../errors.ts";
import { DECISION_KINDS } from "../facts/decision.ts";
import type { Explanations } from "../facts/explanation.ts";
import { FactEdit, FactId, ForgetReason } from "../facts/fact.ts";
import type { FactReview } from "../facts/review.ts";
import type { FactService } from "../facts/service.ts";
import { address, factAddress, listAddress } from "./address.ts";
import { render } from "./layout.ts";
import type { KeyNames } from "./pages/actor.ts";
import { FactPage } from "./pages/fact.ts";
import { faultOf, parse } from "./parse.ts";
import { type Places, requireShown } from "./places.ts";
import { type RefusedEdit, readValue, VALUE_KINDS } from "./value-form.ts";
import type { Viewer, Viewers } from "./viewer.ts";

/** What the address says was done, for the page after it. */
const DONE = {
  pin: "pinned",
  unpin: "unpinned",
  archive: "archived",
  restore: "restored",
  settle: "settled",
  keep_all: "keep_all",
} as const;

const FactPath = z.object({ id: FactId });
const FactQuery = z.object({ done: z.string().optional() });
const DecisionForm = z.object({
  decision: z.enum(DECISION_KINDS).exclude(["edit"]),
  /** The list that it was decided in, to go back to; absent = the fact's own page. */
  from: z.enum(["inbox", "duplicates"]).optional(),
});
const DeleteForm = z.object({ reason: ForgetReason });
const EditForm = z.object({
  value: z.string(),
  kind: z.enum(VALUE_KINDS),
  reason: z.string().default(""),
});

interface FactOptions {
  readonly viewers: Viewers;
  readonly places: Places;
  readonly facts: FactService;
  readonly review: FactReview;
  readonly explanations: Explanations;
  readonly keys: KeyService;
}

export function factRoutes(app: FastifyInstance, options: FactOptions): void {
  const { viewers, places, facts, review, explanations, keys } = options;

  const find = async ({ principal }: Viewer, id: string) => {
    const fact = await facts.find(principal, id);
    requireShown(principal, fact.scope);
    return fact;
  };
  const namesFor = async ({ principal }: Viewer): Promise<KeyNames> =>
    new Map(
      isAdmin(principal) ? (await keys.list(principal)).map(({ id, name }) => [id, name]) : [],
    );
  const show = async (
    reply: FastifyReply,
    viewer: Viewer,
    id: string,
    { done, refused }: { done?: string | undefined; refused?: RefusedEdit },
  ) => {
    const explanation = await explanations.explain(viewer.principal, id);
    requireShown(viewer.principal, explanation.fact.scope);
    const page = html`<${FactPage}
      viewer=${viewer}
      named=${await places.find(viewer.principal, explanation.fact)}
      explanation=${explanation}
      names=${await namesFor(viewer)}
      done=${done}
      refused=${refused}
    />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  };

  app.get("/facts/:id", async (request, reply) => {
    const { id } = parse(FactPath, request.params);
    return show(reply, viewers.of(request), id, parse(FactQuery, request.query));
  });

  app.post("/facts/:id", async (request, reply) => {
    const { id } = parse(FactPath, request.params);
    const { decision, from } = parse(DecisionForm, request.body);
    await review.decide(viewers.of(request).principal, id, decision, null);
    const done = { done: DONE[decision] };
    return reply.redirect(from ? address(`/${from}`, done) : factAddress(id, done), 303);
  });

  app.post("/facts/:id/edit", async (request, reply) => {
    const viewer = viewers.of(request);
    const { id } = parse(FactPath, request.params);
    const { reason, kind, value: text } = parse(EditForm, request.body);
    const written = { kind, text };
    try {
      const value = readValue(written);
      const edit = parse(FactEdit, { value, ...(reason.trim() && { reason }) });
      const newId = await review.edit(viewer.principal, id, edit.value, edit.reason ?? null);
      return await reply.redirect(factAddress(newId, { done: "edited" }), 303);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "INVALID_INPUT") throw error;
      const fault = faultOf(error);
      return show(reply.code(400), viewer, id, { refused: { written, reason, fault } });
    }
  });

  app.post("/facts/:id/delete", async (request, reply) => {
    const viewer = viewers.of(request);
    const { id } = parse(FactPath, request.params);
    const { reason } = parse(DeleteForm, request.body);
    const { scope, userId, storeId } = await find(viewer, id);
    await facts.forget(viewer.principal, id, reason);
    return reply.redirect(listAddress({ scope, userId, storeId }, { done: "deleted" }), 303);
  });
}
