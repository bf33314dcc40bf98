import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "htm/preact";
import { AppError, type ErrorCode } from "../errors.ts";
import { render } from "./layout.ts";
import { isLive } from "./live.ts";
import { ErrorPage } from "./pages/error.ts";
import type { Viewer } from "./viewer.ts";

const PAGES: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  INVALID_INPUT: [400, "This cannot be read"],
  NOT_FOUND: [404, "Not found"],
  FORBIDDEN: [403, "Not allowed"],
  CONFLICT: [409, "Something else is there"],
  LIMIT_EXCEEDED: [413, "Too much"],
  RATE_LIMITED: [429, "Too often"],
  UNAVAILABLE: [503, "Not available now"],
  INTERNAL: [500, "Something went wrong"],
};

/** Answers what went wrong as a page: what its reader can act on is told, the rest is logged once. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer | undefined,
) {
  const { code, message, hint } = describe(error, request);
  const [status, title] = PAGES[code];
  if (code === "UNAVAILABLE") reply.header("retry-after", "5");
  // A part of the page was asked for: the error takes the place of the whole.
  if (isLive(request.headers)) {
    reply.headers({ "hx-retarget": "#main", "hx-reselect": "#main", "hx-reswap": "outerHTML" });
  }
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(
      render(
        html`<${ErrorPage} title=${title} message=${message} hint=${hint} viewer=${viewer} />`,
      ),
    );
}

function describe(
  error: unknown,
  request: FastifyRequest,
): Pick<AppError, "code" | "message" | "hint"> {
  if (error instanceof AppError) return error;
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status === 413) {
    return { code: "LIMIT_EXCEEDED", message: "The form is too large.", hint: undefined };
  }
  if (status >= 400 && status < 500) {
    return { code: "INVALID_INPUT", message: "The form could not be read.", hint: undefined };
  }
  request.log.error({ err: error }, "unexpected error");
  return { code: "INTERNAL", message: "It was logged on the server.", hint: undefined };
}
