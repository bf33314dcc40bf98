import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import { type OrgService, StoreId } from "../orgs/service.ts";
import { Recall } from "../recall/query.ts";
import type { RecallService } from "../recall/service.ts";
import { type People, PeopleQuery } from "../users/people.ts";
import { UserId } from "../users/person.ts";
import { render } from "./layout.ts";
import { PreviewPage } from "./pages/preview.ts";
import { blank, parse } from "./parse.ts";
import type { Viewers } from "./viewer.ts";

/** Facts and messages whose scores are shown. */
const SHOWN = 50;

const PreviewQuery = z.object({
  userId: blank(UserId.optional()),
  storeId: blank(StoreId.optional()),
  agentId: blank(AgentId.optional()),
  query: blank(z.string().max(2000).optional()),
  /** As a form's field sends it: the time without seconds and zone, which is UTC here. */
  asOf: blank(
    z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, "a point in time is written YYYY-MM-DDThh:mm")
      .optional(),
  ),
});
export type PreviewQuery = z.output<typeof PreviewQuery>;

interface PreviewOptions {
  readonly viewers: Viewers;
  readonly people: People;
  readonly orgs: OrgService;
  readonly recall: RecallService;
}

/** What an agent gets for a prompt, by the same service that answers it. */
export function previewRoutes(app: FastifyInstance, options: PreviewOptions): void {
  const { viewers, people, orgs, recall } = options;

  app.get("/preview", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const { pins } = principal;
    const asked = parse(PreviewQuery, request.query);
    const stores = await orgs.visibleStores(principal);
    const { person, choices } = await who(people, principal, asked.userId ?? pins.userId);
    const storeId = asked.storeId ?? pins.storeId;
    const store = storeId === undefined ? undefined : await orgs.visibleStore(principal, storeId);
    const input = parse(Recall, {
      ...{ userId: person?.id, storeId: store?.id, agentId: asked.agentId, query: asked.query },
      asOf: asked.asOf && `${asked.asOf}:00Z`,
      limit: SHOWN,
      // A key of one person is shown that person alone, as on every other page.
      scopes: pins.userId === undefined ? undefined : ["user"],
    });
    const isAsked = choices === undefined && Object.keys(request.query ?? {}).length > 0;
    const inspection =
      isAsked || pins.userId !== undefined ? await recall.inspect(principal, input) : undefined;
    reply.type("text/html; charset=utf-8");
    return render(html`<${PreviewPage}
      viewer=${viewer}
      asked=${asked}
      person=${person}
      choices=${choices}
      store=${store}
      stores=${stores}
      budget=${input.budgetTokens}
      inspection=${inspection}
    />`);
  });
}

/** The person that somebody typed: an id, else whoever has that name, where it is one person. */
async function who(people: People, principal: Principal, typed: string | undefined) {
  if (typed === undefined) return {};
  try {
    return { person: await people.find(principal, typed) };
  } catch (error) {
    // A name may be no id at all, such as one with a colon.
    const isNoId = error instanceof AppError && /^(?:NOT_FOUND|INVALID_INPUT)$/.test(error.code);
    if (!isNoId || principal.pins.userId !== undefined) throw error;
    const query = parse(PeopleQuery, { search: typed });
    const { people: choices } = await people.list(principal, query);
    const [only] = choices;
    if (!only) throw error;
    return choices.length === 1 ? { person: only } : { choices };
  }
}
