import { z } from "zod";
import { type DescribedRoute, type Route, route } from "../route.ts";
import { openApiOf } from "./openapi.ts";

/** The description of all routes, these included: for programs, and for people. Holds no data, so anybody may read it. */
export function referenceRoutes(routes: readonly DescribedRoute[], version: string): Route[] {
  const reference: Route[] = [
    route({
      method: "GET",
      url: "/v1/openapi.json",
      id: "getOpenApi",
      section: "Reference",
      summary: "This API as an OpenAPI 3.1 document",
      caller: "anybody",
      answer: z.record(z.string(), z.unknown()),
      handle: ({ reply }) => {
        reply.header("cache-control", "public, max-age=300");
        return { ...document };
      },
    }),
  ];
  const document = openApiOf([...routes, ...reference], version);
  return reference;
}
