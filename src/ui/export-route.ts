import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { ExportQuery } from "../export/scope.ts";
import type { Exports } from "../export/service.ts";
import { parse } from "./parse.ts";
import type { Viewers } from "./viewer.ts";

interface ExportOptions {
  readonly viewers: Viewers;
  readonly exports: Exports;
}

export function exportRoute(app: FastifyInstance, { viewers, exports }: ExportOptions): void {
  // It is noted who takes an export: asking for the headers alone must not be.
  app.get("/export", { exposeHeadRoute: false }, async (request, reply) => {
    const { principal } = viewers.of(request);
    const query = parse(ExportQuery, request.query);
    const { fileName, contentType, pieces } = await exports.begin(principal, query);
    // Read only as fast as the browser takes it, and no further once it has left.
    return reply
      .type(contentType)
      .header("content-disposition", `attachment; filename="${fileName}"`)
      .send(Readable.from(pieces, { objectMode: false }));
  });
}
