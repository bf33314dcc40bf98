import type { OpenApi, Operation } from "../../src/http/v1/reference/openapi.ts";
import type { TestApp } from "../support/app.ts";
import type { Method } from "./rpc.ts";

/** A route as the server describes it. */
export interface DescribedOperation extends Operation {
  readonly method: Method;
  /** As Fastify has it, with `:name`. */
  readonly url: string;
}

export async function openApiOf(app: TestApp): Promise<OpenApi> {
  return (await app.http.inject("/v1/openapi.json")).json();
}

/** Every route of `/v1`, from the description that the server gives of itself. */
export async function operationsOf(app: TestApp): Promise<DescribedOperation[]> {
  const { paths } = await openApiOf(app);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase() as Method,
      url: path.replace(/\{(\w+)\}/g, ":$1"),
    })),
  );
}

/** The parameters of a route that look like ids: of its address, its query and the top of its body. */
export function idParametersOf({ parameters = [], requestBody }: DescribedOperation) {
  const schema = requestBody?.content["application/json"]?.schema;
  const bodies = [schema, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  const properties = new Set(
    bodies.flatMap((one) => (typeof one === "object" ? Object.keys(one.properties ?? {}) : [])),
  );
  const looksLikeId = (name: string) => /^(?:id|with|against)$|Id$/.test(name);
  const inAddress = (name: string) => name === "account" || looksLikeId(name);
  return [
    ...parameters
      .filter(({ name, in: place }) => (place === "path" ? inAddress(name) : looksLikeId(name)))
      .map(
        ({ name, in: place }) => ({ name, place: place === "path" ? "params" : "query" }) as const,
      ),
    ...[...properties].filter(looksLikeId).map((name) => ({ name, place: "body" }) as const),
  ];
}
