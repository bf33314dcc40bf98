import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { hasRole, type Principal } from "../access/principal.ts";
import type { JobService } from "../jobs/service.ts";
import type { OverviewService } from "../overview/service.ts";
import { render } from "./layout.ts";
import { OverviewPage } from "./pages/overview.ts";
import { PersonOverviewPage } from "./pages/person-overview.ts";
import { PinnedOverviewPage } from "./pages/pinned-overview.ts";
import type { Viewers } from "./viewer.ts";

interface OverviewOptions {
  readonly viewers: Viewers;
  readonly overview: OverviewService;
  readonly jobs: JobService;
}

export function overviewRoutes(
  app: FastifyInstance,
  { viewers, overview, jobs }: OverviewOptions,
): void {
  app.get("/", async (request, reply) => {
    const viewer = viewers.of(request);
    const { principal } = viewer;
    const page = await pageOf(principal);
    return reply.type("text/html; charset=utf-8").send(render(page));

    async function pageOf({ pins }: Principal) {
      if (pins.userId !== undefined) {
        const counts = await overview.person(principal);
        return html`<${PersonOverviewPage} viewer=${viewer} counts=${counts} />`;
      }
      if (Object.keys(pins).length > 0) return html`<${PinnedOverviewPage} viewer=${viewer} />`;
      return html`<${OverviewPage}
        viewer=${viewer}
        overview=${await overview.org(principal)}
        schedule=${hasRole(principal, "admin") ? await jobs.schedule(principal) : undefined}
      />`;
    }
  });
}
