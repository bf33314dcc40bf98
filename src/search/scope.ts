import { type FactScope, ownerOf } from "../facts/row.ts";

/** What is searched as one, by what it stands for. */
export interface ScopeName {
  readonly kind: "org" | "store" | "user" | "message";
  readonly storeId: string | null;
  readonly userId: string | null;
  /** Of facts: whose pocket. Empty for messages. */
  readonly agentId: string;
  readonly archived: boolean;
}

/** A scope with what BM25 has to know of it as a whole. */
export interface SearchScope extends ScopeName {
  readonly id: number;
  readonly orgId: string;
  readonly documents: number;
  /** Words of all its documents, without and with the messages before them. */
  readonly length: number;
  readonly contextLength: number;
  /** Of messages: they have vectors, or get them. */
  readonly embedMessages: boolean;
}

export function factScopeName(scope: FactScope, agentId: string, archived: boolean): ScopeName {
  return {
    kind: scope.name,
    storeId: scope.name === "store" ? ownerOf(scope) : null,
    userId: scope.name === "user" ? ownerOf(scope) : null,
    agentId,
    archived,
  };
}

export function messageScopeName(userId: string, storeId: string | null): ScopeName {
  return { kind: "message", storeId, userId, agentId: "", archived: false };
}

/** Names a scope in maps. In the order of these names scopes are locked: by the order of keys' names, then live ones. */
export function nameOfScope({ kind, storeId, userId, agentId, archived }: ScopeName): string {
  return JSON.stringify([kind, storeId, userId, agentId, archived]);
}
