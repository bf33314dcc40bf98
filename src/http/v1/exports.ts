import { Readable } from "node:stream";
import { z } from "zod";
import { exportSchema } from "../../export/document.ts";
import type { ExportImports } from "../../export/import.ts";
import { ExportImport } from "../../export/imported.ts";
import { ExportQuery } from "../../export/scope.ts";
import type { Exports } from "../../export/service.ts";
import { type Route, route } from "./route.ts";

/** A line of the longest, which may double where it is put into a text. */
const BATCH_BYTES = 10 * 1024 * 1024;

export interface ExportServices {
  readonly exports: Exports;
  readonly exportImports: ExportImports;
}

/** Everything that is kept of a person, a store or the org, as one answer of any length; and the way back. */
export function exportRoutes({ exports, exportImports }: ExportServices): Route[] {
  const schema = exportSchema();
  return [
    route({
      method: "GET",
      url: "/v1/export",
      id: "export",
      section: "Data",
      summary: "Take everything along",
      description:
        "All that is kept of a person (`userId`), a store (`storeId`) or the org (`org`), as one JSON document or line by line. The document's schema is at `/v1/export.schema.json`. A store and the org: admin keys without pins.",
      caller: "member",
      errors: ["FORBIDDEN", "NOT_FOUND"],
      query: ExportQuery,
      media: ["application/json", "application/x-ndjson"],
      answer: z.unknown(),
      handle: async ({ by, query, reply }) => {
        const { fileName, contentType, pieces } = await exports.begin(by, query);
        reply
          .type(contentType)
          .header("content-disposition", `attachment; filename="${fileName}"`)
          .header("cache-control", "no-store");
        return Readable.from(pieces, { objectMode: false });
      },
    }),
    route({
      method: "POST",
      url: "/v1/imports/souvenir",
      id: "importExport",
      section: "Data",
      summary: "Restore lines of an export",
      description:
        "At most 1,000 lines of an NDJSON export, as texts. The same ids, times and states; what is there already stays as it is, and a line that cannot be restored is refused alone. `end` goes with the last batch.",
      caller: "owner",
      bodyLimit: BATCH_BYTES,
      body: ExportImport,
      example: { dryRun: true, lines: [{ number: 1, text: "{…}" }] },
      answer: z.strictObject({
        lines: z.array(
          z.strictObject({
            number: z.int(),
            section: z.string().optional(),
            outcome: z.enum(["new", "present", "differs", "listed", "refused"]),
            reason: z.string().optional(),
          }),
        ),
      }),
      handle: ({ by, body }) => exportImports.lines(by, body),
    }),
    route({
      method: "GET",
      url: "/v1/export.schema.json",
      id: "exportSchema",
      section: "Data",
      summary: "What an export looks like, as JSON Schema",
      caller: "anybody",
      media: ["application/schema+json"],
      answer: z.unknown(),
      handle: ({ reply }) => {
        reply.type("application/schema+json").header("cache-control", "max-age=3600");
        return `${JSON.stringify(schema, null, 2)}\n`;
      },
    }),
  ];
}
