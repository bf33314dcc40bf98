import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { exportSchema } from "../../export/document.ts";
import { ExportQuery } from "../../export/scope.ts";
import type { Exports } from "../../export/service.ts";
import { ownHosts } from "../own-hosts.ts";
import { parse } from "./parse.ts";

/** Everything that is kept of a person, a store or the org, as one answer of any length. */
export function exportRoutes(
  app: FastifyInstance,
  exports: Exports,
  by: (request: FastifyRequest) => Principal,
): void {
  // It is noted who takes an export: asking for the headers alone must not be.
  app.get("/v1/export", { exposeHeadRoute: false }, async (request, reply) => {
    const query = parse(ExportQuery, request.query);
    const { fileName, contentType, pieces } = await exports.begin(by(request), query);
    return reply
      .type(contentType)
      .header("content-disposition", `attachment; filename="${fileName}"`)
      .header("cache-control", "no-store")
      .send(Readable.from(pieces, { objectMode: false }));
  });
}

/** What an export looks like, for anybody: it holds nothing of anyone. */
export async function exportSchemaRoute(
  app: FastifyInstance,
  { allowedHosts }: { readonly allowedHosts: readonly string[] },
): Promise<void> {
  app.addHook("onRequest", ownHosts(allowedHosts));
  const schema = `${JSON.stringify(exportSchema(), null, 2)}\n`;
  app.get("/v1/export.schema.json", (_request, reply) =>
    reply.type("application/schema+json").header("cache-control", "max-age=3600").send(schema),
  );
}
