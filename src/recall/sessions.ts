import type { Place } from "./fusion.ts";

/** Somebody who comes back after hours speaks of something else. */
const GAP_MS = 6 * 3_600_000;

/** Something that was said, and where. */
export interface Said {
  readonly documentId: string;
  /** Sessions of different conversations are different ones. */
  readonly conversation: string;
  readonly at: Date;
  readonly isAssistant: boolean;
  /** What was said just before it, where that is known: null = nothing. */
  readonly previous?: string | null;
}

/**
 * What was found, by the sessions that it was said in: a conversation breaks after six hours of silence. Where nothing is
 * known of what came before, neighbours are the next ones that were found.
 */
export function placesOf(said: readonly Said[]): Place[] {
  return [...Map.groupBy(said, ({ conversation }) => conversation)].flatMap(
    ([conversation, all]) => {
      const inOrder = all.toSorted(
        (a, b) => a.at.getTime() - b.at.getTime() || (a.documentId < b.documentId ? -1 : 1),
      );
      let session = 0;
      const sessions = inOrder.map(({ at }, n) => {
        const before = inOrder[n - 1];
        if (before && at.getTime() - before.at.getTime() > GAP_MS) session++;
        return session;
      });
      const pairs = inOrder.flatMap(({ documentId, previous }, n) => {
        if (previous !== undefined)
          return previous === null ? [] : [[previous, documentId] as const];
        const before = inOrder[n - 1];
        return before && sessions[n - 1] === sessions[n]
          ? [[before.documentId, documentId] as const]
          : [];
      });
      const before = new Map(pairs.map(([one, other]) => [other, one]));
      const after = new Map(pairs);
      return inOrder.map(({ documentId, isAssistant }, n) => ({
        documentId,
        isAssistant,
        session: `${conversation} ${sessions[n]}`,
        neighbours: [before.get(documentId), after.get(documentId)].filter(
          (id) => id !== undefined,
        ),
      }));
    },
  );
}
