import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { type Principal, requireOwner } from "../access/principal.ts";
import { NewErasure, NewReset } from "../erasure/erasure.ts";
import { ErasureQuery, type ErasureService } from "../erasure/service.ts";
import { AppError } from "../errors.ts";
import { mayExport } from "../export/reach.ts";
import { type OrgService, StoreId } from "../orgs/service.ts";
import type { People } from "../users/people.ts";
import { UserId } from "../users/person.ts";
import { address } from "./address.ts";
import { render } from "./layout.ts";
import { DataPage, type DataSubject } from "./pages/data.ts";
import { ErasurePage, ErasuresPage } from "./pages/erasures.ts";
import { blank, faultOf, parse } from "./parse.ts";
import { nameOf } from "./places.ts";
import type { Viewer, Viewers } from "./viewer.ts";

const DataQuery = z.object({
  userId: blank(UserId.optional()),
  storeId: blank(StoreId.optional()),
});
type DataQuery = z.output<typeof DataQuery>;
const WithId = z.object({ id: z.string() });

interface DataOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly orgs: OrgService;
  readonly erasures: ErasureService;
}

/** Export and erase, and the reports. */
export function dataRoutes(app: FastifyInstance, options: DataOptions): void {
  const { viewers, erasures, orgs } = options;

  const show = async (
    reply: FastifyReply,
    viewer: Viewer,
    query: DataQuery,
    fault?: { readonly of: "erase" | "reset"; readonly text: string },
  ) => {
    const { principal } = viewer;
    const subject = await subjectOf(options, principal, query);
    // Of a store or a person there is nothing to show to whom may neither export nor erase; the org's page leads on.
    if (subject.kind !== "org" && !mayExport(principal, subject.kind)) requireOwner(principal);
    const isListed = subject.kind === "org" && mayExport(principal, "store");
    const stores = isListed ? await orgs.visibleStores(principal) : [];
    const page = html`<${DataPage} viewer=${viewer} subject=${subject} stores=${stores} fault=${fault} />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  };

  app.get("/data", (request, reply) =>
    show(reply, viewers.of(request), parse(DataQuery, request.query)),
  );

  for (const act of ["erase", "reset"] as const) {
    app.post(`/data/${act}`, async (request, reply) => {
      const viewer = viewers.of(request);
      const query = parse(DataQuery, request.body);
      try {
        const { id } =
          act === "erase"
            ? await erasures.erase(viewer.principal, parse(NewErasure, request.body))
            : await erasures.reset(viewer.principal, parse(NewReset, request.body));
        return await reply.redirect(address(`/erasures/${id}`), 303);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "INVALID_INPUT") throw error;
        const text = faultOf(error);
        return show(reply.code(400), viewer, query, { of: act, text });
      }
    });
  }

  app.get("/erasures", async (request, reply) => {
    const viewer = viewers.of(request);
    const page = await erasures.list(viewer.principal, parse(ErasureQuery, request.query));
    reply.type("text/html; charset=utf-8");
    return render(html`<${ErasuresPage} viewer=${viewer} page=${page} />`);
  });

  app.get("/erasures/:id", async (request, reply) => {
    const viewer = viewers.of(request);
    const erasure = await erasures.find(viewer.principal, parse(WithId, request.params).id);
    reply.type("text/html; charset=utf-8");
    return render(html`<${ErasurePage} viewer=${viewer} erasure=${erasure} />`);
  });

  // Shown at once and kept nowhere: it says how it is at this moment.
  app.post("/erasures/:id/verify", async (request, reply) => {
    const viewer = viewers.of(request);
    const { id } = parse(WithId, request.params);
    const verification = await erasures.verify(viewer.principal, id);
    const erasure = await erasures.find(viewer.principal, id);
    reply.type("text/html; charset=utf-8");
    return render(
      html`<${ErasurePage} viewer=${viewer} erasure=${erasure} verification=${verification} />`,
    );
  });
}

async function subjectOf(
  { people, orgs }: Pick<DataOptions, "people" | "orgs">,
  principal: Principal,
  { userId: named, storeId }: DataQuery,
): Promise<DataSubject> {
  const userId = named ?? (storeId === undefined ? principal.pins.userId : undefined);
  if (userId !== undefined) {
    const person = await people.find(principal, userId);
    const name = nameOf(person);
    const [identity] = person.identities;
    const handle = person.username === null ? undefined : `@${person.username}`;
    return { kind: "user", id: person.id, name, word: handle ?? identity ?? person.id };
  }
  if (storeId !== undefined) {
    const store = await orgs.visibleStore(principal, storeId);
    return { kind: "store", id: store.id, name: store.name, word: store.slug };
  }
  const { slug, name } = await orgs.own(principal);
  return { kind: "org", id: principal.orgId, name, word: slug };
}
