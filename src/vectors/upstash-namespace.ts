import { isUuid } from "../uuid.ts";
import { MAX_PARTS, type VectorScope } from "./index.ts";

/** Agents that exist look like that; a filter has no way to write anything else safely. */
const AGENT = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const NAMESPACE = /^(?:facts:(?:org|store|user):|messages:(?:org-)?)([0-9a-f-]+)$/;

/**
 * Where a scope's vectors lie. The client puts it into the path of its requests as it is, and `../reset?all=` there
 * would empty the whole index: nothing but ids of ours ever becomes part of it.
 *
 * @throws RangeError for what is no id
 */
export function namespaceOf({
  kind,
  orgId,
  storeId,
  userId,
}: Pick<VectorScope, "kind" | "orgId" | "storeId" | "userId">): string {
  if (kind === "message") {
    return storeId === null ? `messages:org-${idOf(orgId)}` : `messages:${idOf(storeId)}`;
  }
  return `facts:${kind}:${idOf({ org: orgId, store: storeId, user: userId }[kind])}`;
}

/** @throws RangeError for a namespace that `namespaceOf` did not make */
export function checkedNamespace(namespace: string): string {
  if (isUuid(NAMESPACE.exec(namespace)?.[1] ?? "")) return namespace;
  throw new RangeError("no namespace of this server");
}

/** The ids of every vector that a document can have. */
export function vectorIdsOf(documentId: string): string[] {
  return Array.from({ length: MAX_PARTS }, (_, part) => vectorIdOf(documentId, part));
}

export function vectorIdOf(documentId: string, part: number): string {
  return part === 0 ? idOf(documentId) : `${idOf(documentId)}:${part}`;
}

/** @returns undefined for an id that this server did not give */
export function documentIdOf(vectorId: string | number): string | undefined {
  const [documentId = ""] = String(vectorId).split(":", 1);
  return isUuid(documentId) ? documentId : undefined;
}

/** What narrows a namespace to the scopes of it that are searched: pockets of agents, or people's messages. */
export function filterOf(scopes: readonly VectorScope[], modelId: number): string {
  if (!Number.isInteger(modelId)) throw new RangeError("no id of a model");
  const messages = scopes.some(({ kind }) => kind === "message");
  const values = scopes.map((scope) =>
    messages ? (scope.userId === null ? "" : idOf(scope.userId)) : agentOf(scope.agentId),
  );
  const list = [...new Set(values)].map((value) => `'${value}'`).join(", ");
  return `m = ${modelId} AND ${messages ? "u" : "a"} IN (${list})`;
}

/** What a vector says of itself, for the filter. */
export function metadataOf({ agentId, userId }: VectorScope, modelId: number) {
  return { u: userId ?? "", a: agentId, m: modelId };
}

function agentOf(agentId: string): string {
  if (AGENT.test(agentId)) return agentId;
  throw new RangeError("no agent of this server");
}

function idOf(id: string | null): string {
  if (id !== null && isUuid(id)) return id.toLowerCase();
  throw new RangeError("no id of this server");
}
