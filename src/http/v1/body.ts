import type { FastifyInstance } from "fastify";
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
