import type { OpenApi, Operation } from "./openapi.ts";

/** A call on a command line, with what the reference takes as an example. */
export function curlOf(path: string, method: string, operation: Operation): string {
  const address = path
    .replace("{userId}", "telegram:12345")
    .replace(
      /\{(\w+)\}/g,
      (_, name: string) => `$${name.replace(/([A-Z])/g, "_$1").toUpperCase()}`,
    );
  const { example } = operation.requestBody?.content["application/json"] ?? {};
  const needed = operation.parameters?.filter((one) => one.in === "query" && one.required) ?? [];
  const query = needed.map(({ name }) => `${name}=…`).join("&");
  const isPlain = method === "get";
  return [
    `curl${isPlain ? "" : ` -X ${method.toUpperCase()}`} "$SOUVENIR_URL${address}${query && `?${query}`}"`,
    ...(operation["x-caller"] === "anybody" ? [] : ['-H "Authorization: Bearer $SOUVENIR_KEY"']),
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`]),
  ].join(" \\\n  ");
}

export interface Entry {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** The operations whose words hold all of a search's; all without one. */
export function entriesOf({ paths }: OpenApi, search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .filter(({ path, method, operation }) => {
      const { summary, description = "", operationId, tags } = operation;
      const text = [method, path, operationId, summary, description, ...tags]
        .join(" ")
        .toLowerCase();
      return words.every((word) => text.includes(word));
    });
}
