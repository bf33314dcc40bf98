import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { FactReview, Place } from "../facts/review.ts";
import { parse } from "./parse.ts";
import { PlaceQuery, type Places } from "./places.ts";
import type { Viewers } from "./viewer.ts";

interface ExportOptions {
  readonly viewers: Viewers;
  readonly places: Places;
  readonly review: FactReview;
}

export function exportRoute(
  app: FastifyInstance,
  { viewers, places, review }: ExportOptions,
): void {
  // An export goes into the audit trail: asking for its headers alone must not.
  app.get("/export", { exposeHeadRoute: false }, async (request, reply) => {
    const { principal } = viewers.of(request);
    const { place } = await places.find(principal, parse(PlaceQuery, request.query));
    const pieces = review.export(principal, place);
    // What refuses the export says so before the first piece, while the answer can still be a page.
    const first = await pieces.next();
    return reply
      .type("application/json; charset=utf-8")
      .header("content-disposition", `attachment; filename="${fileName(place)}"`)
      .send(Readable.from(rest(first, pieces)));
  });
}

/** Read only as fast as the browser takes it: a stream asks for the next piece when it has room. */
async function* rest(first: IteratorResult<string>, pieces: AsyncGenerator<string>) {
  try {
    if (!first.done) yield first.value;
    yield* pieces;
  } finally {
    await pieces.return(undefined);
  }
}

function fileName({ scope, storeId, userId }: Place): string {
  return ["souvenir", scope, storeId ?? userId].filter(Boolean).join("-").concat(".json");
}
