import type { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../../../errors.ts";
import { ERROR_STATUS, PROBLEM_MEDIA, Problem } from "../../problem.ts";
import { type DescribedRoute, type RouteCaller, SECTIONS } from "../route.ts";
import { type JsonSchema, jsonSchemaOf, type NamedSchemas } from "./json-schema.ts";

const JSON_MEDIA = "application/json";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

type Content = Readonly<Record<string, Media>>;
type Answer =
  | { readonly $ref: string }
  | {
      readonly description: string;
      readonly headers?: object;
      readonly content?: Content;
    };

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly object[];
  /** Who may call it: the least role of a key, `operator`, `signer` or `anybody`. */
  readonly "x-caller": RouteCaller;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: NamedSchemas;
    readonly responses: Readonly<Record<string, Answer>>;
  };
}

const SECURITY: Readonly<Record<RouteCaller, readonly object[]>> = {
  anybody: [],
  member: [{ key: [] }],
  admin: [{ key: [] }],
  owner: [{ key: [] }],
  operator: [{ key: [] }],
  signer: [{ signature: [] }],
};

const WHEN: Readonly<Record<ErrorCode, string>> = {
  INVALID_INPUT: "What was sent is wrong; `detail` names each fault",
  NOT_FOUND: "Nothing of this org, within the key's pins, has this id",
  FORBIDDEN: "The key's role or pins do not allow it",
  CONFLICT: "It contradicts what is there",
  LIMIT_EXCEEDED: "More than may be kept or sent at once",
  RATE_LIMITED: "Too many requests with this key; `Retry-After` says how many seconds to wait",
  UNAVAILABLE: "Something it needs is away; try again after `Retry-After` seconds",
  INTERNAL: "A fault of the server, which logged it",
};

/** The routes as an OpenAPI 3.1 document, made of the schemas that parse and describe them. */
export function openApiOf(routes: readonly DescribedRoute[], version: string): OpenApi {
  const schemas: NamedSchemas = {};
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(route, schemas);
  }
  const problem = { [PROBLEM_MEDIA]: { schema: jsonSchemaOf(Problem, "output", schemas) } };
  const responses = ERROR_CODES.map((code) => [
    code,
    { description: WHEN[code], ...retryAfter(code), content: problem },
  ]);
  return {
    openapi: "3.1.1",
    info: {
      title: "Souvenir",
      version,
      summary: "Memory for AI agents, over HTTP",
      description:
        "Everything that an agent does by tools and a person on the memory page. Faults are problem details (RFC 9457) with a `code`. A foreign id answers exactly as an unknown one. What a key pins is supplied by the server.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: Object.entries(SECTIONS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key" },
        signature: {
          type: "apiKey",
          in: "header",
          name: "webhook-signature",
          description: "Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature",
        },
      },
      schemas: Object.fromEntries(Object.entries(schemas).sort()),
      responses: Object.fromEntries(responses),
    },
  };
}

function operationOf(route: DescribedRoute, schemas: NamedSchemas): Operation {
  const { id, section, summary, description, caller, body, example } = route;
  const parameters = [
    ...parametersOf("path", route.params, schemas),
    ...parametersOf("query", route.query, schemas),
    ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: id,
    tags: [section],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[caller],
    "x-caller": caller,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: {
          [JSON_MEDIA]: {
            schema: jsonSchemaOf(body, "input", schemas),
            ...(example !== undefined && { example }),
          },
        },
      },
    }),
    responses: { ...answersOf(route, schemas), ...faultsOf(route, parameters.length > 0) },
  };
}

const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key and body again get the first answer; another body is a CONFLICT",
  schema: { type: "string", minLength: 1, maxLength: 256 },
};

function parametersOf(
  place: "path" | "query",
  schema: z.ZodObject | undefined,
  schemas: NamedSchemas,
): Parameter[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(schema, "input", schemas);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...json } = property as JsonSchema;
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description !== undefined && { description }),
      schema: json,
    };
  });
}

function answersOf(route: DescribedRoute, schemas: NamedSchemas): Record<string, Answer> {
  const { status = 200, answer, media = [JSON_MEDIA] } = route;
  if (status === 204) return { 204: { description: "Done" } };
  const schema = jsonSchemaOf(answer, "output", schemas);
  const content = Object.fromEntries(media.map((type) => [type, { schema }]));
  return { [status]: { description: { 200: "OK", 201: "Made", 202: "Begun" }[status], content } };
}

function faultsOf({ caller, body, errors = [] }: DescribedRoute, takes: boolean) {
  const codes = new Set<ErrorCode>(errors);
  if (body || takes) codes.add("INVALID_INPUT");
  if (body) codes.add("LIMIT_EXCEEDED");
  if (caller !== "anybody") codes.add("RATE_LIMITED").add("UNAVAILABLE");
  if (caller !== "anybody" && caller !== "member") codes.add("FORBIDDEN");
  const listed = [...codes].map((code) => [
    ERROR_STATUS[code],
    { $ref: `#/components/responses/${code}` },
  ]);
  if (caller !== "anybody") listed.push([401, { $ref: "#/components/responses/FORBIDDEN" }]);
  return Object.fromEntries(listed);
}

function retryAfter(code: ErrorCode) {
  if (code !== "RATE_LIMITED" && code !== "UNAVAILABLE") return {};
  return {
    headers: { "Retry-After": { description: "Seconds", schema: { type: "integer", minimum: 0 } } },
  };
}
