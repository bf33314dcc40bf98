import { z } from "zod";
import { type DescribedRoute, type Route, route } from "../route.ts";
import { openApiOf } from "./openapi.ts";
import { referencePage } from "./page.ts";
import { STYLE } from "./style.ts";

/** No script, no other server: the page's own style sheet, and a search that leads back to it. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const section = "Reference";
const caller = "anybody";

/** The description of all routes, these included: for programs, and for people. Holds no data, so anybody may read it. */
export function referenceRoutes(routes: readonly DescribedRoute[], version: string): Route[] {
  const reference: Route[] = [
    route({
      method: "GET",
      url: "/v1/openapi.json",
      id: "getOpenApi",
      section,
      summary: "This API as an OpenAPI 3.1 document",
      caller,
      answer: z.record(z.string(), z.unknown()),
      handle: ({ reply }) => {
        reply.header("cache-control", "public, max-age=300");
        return { ...document };
      },
    }),
    route({
      method: "GET",
      url: "/v1/docs",
      id: "getDocs",
      section,
      summary: "This API as a page to read",
      description: "`search` shows the routes whose words hold all of its.",
      caller,
      query: z.strictObject({ search: z.string().max(100).default("") }),
      media: ["text/html"],
      answer: z.string(),
      handle: ({ query: { search }, reply }) => {
        reply.type("text/html; charset=utf-8").headers({
          "content-security-policy": POLICY,
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
        });
        return referencePage(document, version, search.trim());
      },
    }),
    route({
      method: "GET",
      url: "/v1/docs/style.css",
      id: "getDocsStyle",
      section,
      summary: "The page's style sheet",
      caller,
      query: z.strictObject({ v: z.string().optional() }),
      media: ["text/css"],
      answer: z.string(),
      handle: ({ reply }) => {
        reply
          .type("text/css; charset=utf-8")
          .header("cache-control", "public, max-age=31536000, immutable");
        return STYLE;
      },
    }),
  ];
  const document = openApiOf([...routes, ...reference], version);
  return reference;
}
