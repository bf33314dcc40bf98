import type { NewDocument, ScopeChange, StoredDocument } from "./repository.ts";
import { nameOfScope } from "./scope.ts";

/** What has to be written so that the index holds what is wanted. */
export interface Difference {
  /** To be deleted: no longer wanted, or of another text or scope, so that its vector has to go. */
  readonly gone: readonly StoredDocument[];
  readonly fresh: readonly NewDocument[];
  /** Other words around the same text: the vector stays. */
  readonly reworded: readonly { readonly was: StoredDocument; readonly next: NewDocument }[];
}

export function differenceOf(
  stored: readonly StoredDocument[],
  wanted: readonly NewDocument[],
): Difference {
  const before = new Map(stored.map((document) => [document.id, document]));
  const kept = wanted.flatMap((next) => {
    const was = before.get(next.id);
    const isSameText =
      was?.textHash === next.textHash && nameOfScope(was.scope) === nameOfScope(next.scope);
    return was && isSameText ? [{ was, next }] : [];
  });
  const keptIds = new Set(kept.map(({ next }) => next.id));
  return {
    gone: stored.filter(({ id }) => !keptIds.has(id)),
    fresh: wanted.filter(({ id }) => !keptIds.has(id)),
    reworded: kept.filter(
      ({ was, next }) =>
        was.wordsHash !== next.wordsHash ||
        was.tokens !== next.tokens ||
        was.contextId !== next.contextId,
    ),
  };
}

/** What a difference adds to the totals of each scope that it touches, in the order in which scopes are locked. */
export function changesOf({ gone, fresh, reworded }: Difference): ScopeChange[] {
  const changes = new Map<string, ScopeChange>();
  const add = (document: StoredDocument | NewDocument, sign: 1 | -1, embedDue: boolean) => {
    const name = nameOfScope(document.scope);
    const sum = changes.get(name);
    changes.set(name, {
      scope: document.scope,
      documents: (sum?.documents ?? 0) + sign,
      length: (sum?.length ?? 0) + sign * document.length,
      contextLength: (sum?.contextLength ?? 0) + sign * document.contextLength,
      embedDue: (sum?.embedDue ?? false) || embedDue,
    });
  };
  for (const document of gone) add(document, -1, false);
  // What is archived is found by its words alone.
  for (const document of fresh) add(document, 1, !document.scope.archived);
  for (const { was, next } of reworded) {
    add(was, -1, false);
    add(next, 1, false);
  }
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}
