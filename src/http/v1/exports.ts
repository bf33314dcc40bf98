import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { exportSchema } from "../../export/document.ts";
import type { ExportImports } from "../../export/import.ts";
import { ExportImport } from "../../export/imported.ts";
import { ExportQuery } from "../../export/scope.ts";
import type { Exports } from "../../export/service.ts";
import { ownHosts } from "../own-hosts.ts";
import { parse } from "./parse.ts";

/** A line of the longest, which may double where it is put into a text. */
const BATCH_BYTES = 10 * 1024 * 1024;

export interface ExportServices {
  readonly exports: Exports;
  readonly exportImports: ExportImports;
}

/** Everything that is kept of a person, a store or the org, as one answer of any length; and the way back. */
export function exportRoutes(
  app: FastifyInstance,
  { exports, exportImports }: ExportServices,
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
  app.post("/v1/imports/souvenir", { bodyLimit: BATCH_BYTES }, (request) =>
    exportImports.lines(by(request), parse(ExportImport, request.body)),
  );
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
