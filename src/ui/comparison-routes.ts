import type { FastifyInstance } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import { MemoryChanges } from "../orgs/memory.ts";
import { address } from "./address.ts";
import type { AdminPages } from "./admin-routes.ts";
import { render } from "./layout.ts";
import { ComparisonPage } from "./pages/comparison.ts";
import { blank, parse } from "./parse.ts";

const Query = z.object({ done: z.string().optional() });
const SettingsForm = z.object({
  enabled: z.enum(["on", "off"]),
  /** In hundredths. */
  offShare: z.coerce.number().min(0).max(100),
  extractionDailyLimit: blank(z.coerce.number().optional()),
});

export function comparisonRoutes(app: FastifyInstance, { viewers, orgs, turns }: AdminPages): void {
  app.get("/comparison", async (request, reply) => {
    const viewer = viewers.of(request);
    const { done } = parse(Query, request.query);
    const settings = await orgs.memory(viewer.principal);
    const compared = await turns.compare(viewer.principal, {});
    const page = html`<${ComparisonPage} viewer=${viewer} settings=${settings} compared=${compared} done=${done} />`;
    return reply.type("text/html; charset=utf-8").send(render(page));
  });

  app.post("/comparison", async (request, reply) => {
    const { principal } = viewers.of(request);
    const { enabled, offShare, extractionDailyLimit = null } = parse(SettingsForm, request.body);
    const changes = { enabled: enabled === "on", offShare: offShare / 100, extractionDailyLimit };
    await orgs.changeMemory(principal, parse(MemoryChanges, changes));
    return reply.redirect(address("/comparison", { done: "memory_changed" }), 303);
  });
}
