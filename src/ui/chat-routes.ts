import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { Reason } from "../audit/service.ts";
import type { ChatArchive } from "../chat/archive.ts";
import { ArchiveQuery, ArchiveSearch, NobodyQuery } from "../chat/archived.ts";
import { type People, PeopleQuery } from "../users/people.ts";
import { address } from "./address.ts";
import { render } from "./layout.ts";
import { ChatPage, FoundPage, NobodyPage } from "./pages/chat.ts";
import { MessagePage } from "./pages/message.ts";
import { WhoPage } from "./pages/who.ts";
import { blank, parse } from "./parse.ts";
import type { Viewers } from "./viewer.ts";

const ChatQuery = z.object({
  nobody: z.literal("1").optional(),
  userId: blank(ArchiveQuery.shape.userId.optional()),
  search: blank(ArchiveSearch.shape.search.optional()),
  day: blank(ArchiveQuery.shape.day),
  before: ArchiveQuery.shape.before,
  offset: ArchiveSearch.shape.offset,
  done: z.string().optional(),
});
const MessagePath = z.object({ id: z.string() });
const DeleteForm = z.object({ reason: blank(Reason.optional()) });

interface ChatOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly archive: ChatArchive;
}

export function chatRoutes(app: FastifyInstance, { viewers, people, archive }: ChatOptions): void {
  app.get("/chat", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    reply.type("text/html; charset=utf-8");
    const asked = parse(ChatQuery, request.query);
    const { nobody, search, day, before, offset, done } = asked;
    const isLater = before !== undefined;
    if (nobody) {
      const page = await archive.ofNobody(principal, parse(NobodyQuery, { before }));
      return render(
        html`<${NobodyPage} viewer=${viewer} page=${page} isLater=${isLater} done=${done} />`,
      );
    }
    const id = asked.userId ?? principal.pins.userId;
    if (id === undefined) {
      // Whose chat is asked by the same fields as on the page of people.
      const query = parse(PeopleQuery.omit({ status: true }), request.query);
      const found = await people.list(principal, query);
      return render(html`<${WhoPage} viewer=${viewer} found=${found} query=${query} />`);
    }
    const person = await people.find(principal, id);
    const userId = person.id;
    if (search !== undefined) {
      const query = parse(ArchiveSearch, { userId, search, offset });
      const found = await archive.search(principal, query);
      return render(
        html`<${FoundPage} viewer=${viewer} person=${person} ...${query} found=${found} />`,
      );
    }
    const page = await archive.of(principal, parse(ArchiveQuery, { userId, day, before }));
    return render(
      html`<${ChatPage} viewer=${viewer} person=${person} day=${day} page=${page} isLater=${isLater} done=${done} />`,
    );
  });

  app.get("/chat/:id", async (request, reply) => {
    const viewer = viewers.of(request);
    const { id } = parse(MessagePath, request.params);
    const shown = await archive.message(viewer.principal, id);
    reply.type("text/html; charset=utf-8");
    return render(html`<${MessagePage} viewer=${viewer} shown=${shown} />`);
  });

  app.post("/chat/:id/delete", async (request, reply) => {
    const { principal } = viewers.of(request);
    const { id } = parse(MessagePath, request.params);
    const { reason } = parse(DeleteForm, request.body);
    const { message } = await archive.message(principal, id);
    await archive.delete(principal, id, reason ?? null);
    const { userId } = message;
    const chat = userId === null ? { nobody: true } : { userId };
    return reply.redirect(address("/chat", { ...chat, done: "message_deleted" }), 303);
  });
}
