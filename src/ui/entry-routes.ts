import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { Reason } from "../audit/service.ts";
import { AppError } from "../errors.ts";
import { EntryKey, EntryValue } from "../kv/entry.ts";
import { EntriesQuery, type KvReview } from "../kv/review.ts";
import type { People } from "../users/people.ts";
import { personAddress } from "./address.ts";
import { render } from "./layout.ts";
import { EntriesScreen, EntryScreen, type RefusedEntry } from "./pages/entries.ts";
import { blank, faultOf, parse } from "./parse.ts";
import { PersonPath } from "./people-routes.ts";
import { readValue, VALUE_KINDS, writeValue } from "./value-form.ts";
import type { Viewer, Viewers } from "./viewer.ts";

/** A value takes 64 KiB as JSON; a form writes a byte as up to three characters, and JSON is shown with line breaks. */
const BODY_LIMIT = 512 * 1024;

const ListQuery = z.object({ after: EntriesQuery.shape.after, done: z.string().optional() });
const Key = EntryKey.refine((key) => !key.includes("\0"), "U+0000 cannot be stored");
const EntryQuery = z.object({ key: Key });
const EntryForm = z.object({
  key: Key,
  value: z.string(),
  kind: z.enum(VALUE_KINDS),
  reason: z.string().default(""),
  known: z.literal("1").optional(),
});
const DeleteForm = z.object({ key: Key, reason: blank(Reason.optional()) });

interface EntryOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly entries: KvReview;
}

export function entryRoutes(app: FastifyInstance, options: EntryOptions): void {
  const { viewers, people, entries } = options;

  const showAll = async (
    reply: FastifyReply,
    viewer: Viewer,
    id: string,
    {
      after,
      ...shown
    }: { after?: string | undefined; done?: string | undefined; refused?: RefusedEntry },
  ) => {
    const { principal } = viewer;
    const person = await people.detail(principal, id);
    const page = await entries.list(principal, parse(EntriesQuery, { userId: person.id, after }));
    reply.type("text/html; charset=utf-8");
    return render(
      html`<${EntriesScreen} viewer=${viewer} person=${person} page=${page} isLater=${after !== undefined} ...${shown} />`,
    );
  };
  const showOne = async (
    reply: FastifyReply,
    viewer: Viewer,
    id: string,
    { key, refused }: { key: string; refused?: RefusedEntry },
  ) => {
    const { principal } = viewer;
    const person = await people.detail(principal, id);
    const { value, ...found } = await entries.find(principal, person.id, key);
    const entry = { ...found, written: writeValue(value) };
    reply.type("text/html; charset=utf-8");
    return render(
      html`<${EntryScreen} viewer=${viewer} person=${person} entry=${entry} refused=${refused} />`,
    );
  };

  app.get("/people/:id/memory", async (request, reply) => {
    const { id } = parse(PersonPath, request.params);
    return showAll(reply, viewers.of(request), id, parse(ListQuery, request.query));
  });

  app.get("/people/:id/memory/entry", async (request, reply) => {
    const { id } = parse(PersonPath, request.params);
    return showOne(reply, viewers.of(request), id, parse(EntryQuery, request.query));
  });

  app.post("/people/:id/memory", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { id } = parse(PersonPath, request.params);
    const { key, reason, kind, value: text, known } = parse(EntryForm, request.body);
    const written = { kind, text };
    try {
      const value = parse(EntryValue, readValue(written));
      const why = reason.trim() === "" ? null : parse(Reason, reason);
      await entries.set(principal, id, { key, value }, why);
      return await reply.redirect(personAddress(id, { done: "entry_set" }, "/memory"), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code !== "INVALID_INPUT" && error.code !== "LIMIT_EXCEEDED") throw error;
      const fault = faultOf(error);
      const refused = { key, written, reason, fault };
      reply.code(400);
      return known
        ? showOne(reply, viewer, id, { key, refused })
        : showAll(reply, viewer, id, { refused });
    }
  });

  app.post("/people/:id/memory/delete", async (request, reply) => {
    const { id } = parse(PersonPath, request.params);
    const { key, reason = null } = parse(DeleteForm, request.body);
    await entries.remove(viewers.of(request).principal, id, key, reason);
    return reply.redirect(personAddress(id, { done: "entry_deleted" }, "/memory"), 303);
  });
}
