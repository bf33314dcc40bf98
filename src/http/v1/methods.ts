import type { FastifyInstance } from "fastify";
import { AppError } from "../../errors.ts";
import { MethodNotAllowed } from "../problem.ts";
import { answersHead, type DescribedRoute } from "./route.ts";

/**
 * What an address answers that has no route: to OPTIONS its methods (and no CORS: pages of other origins have no business
 * here), 405 where it takes others, else 404.
 */
export function answerOtherMethods(app: FastifyInstance, routes: readonly DescribedRoute[]): void {
  const addresses = Map.groupBy(routes, ({ url }) => url)
    .entries()
    .map(([url, of]) => {
      const hasHead = of.some(answersHead);
      const all = [...of.map(({ method }) => method), ...(hasHead ? ["HEAD"] : []), "OPTIONS"];
      return { pattern: patternOf(url), allowed: all.join(", ") };
    })
    .toArray();

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.replace(/\/?(?:\?.*)?$/s, "");
    const found = addresses.filter(({ pattern }) => pattern.test(path));
    if (found.length === 0) throw new AppError("NOT_FOUND", "there is nothing at this address");
    const allowed = found.map(({ allowed }) => allowed).join(", ");
    if (request.method !== "OPTIONS") throw new MethodNotAllowed(allowed);
    return reply.code(204).header("allow", allowed).send();
  });
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll(".", String.raw`\.`).replace(/:\w+/g, "[^/]+")}$`);
}
