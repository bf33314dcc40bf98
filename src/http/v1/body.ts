import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../errors.ts";

/** Reads JSON bodies of UTF-8. Fastify would put U+FFFD where the client sent something else, and store that. */
export function readJsonExactly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request, bytes, done) => {
      let text: string;
      try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch (error) {
        done(new AppError("INVALID_INPUT", "the body is not valid UTF-8", { cause: error }));
        return;
      }
      void parseJson(request, text, done);
    },
  );
}

/** Leaves bodies as they came, whatever they say they are: a signature is over their own bytes (`bytesOf`). */
export function keepBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
}

/** The body of a request to a route with `keepBytes`; nothing where there was none. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
