import { analyse, queryTerms } from "../search/analysis.ts";
import { speakerOf } from "../search/lines.ts";
import type { Hit } from "./fusion.ts";
import type { StoredMessage } from "./repository.ts";

/** What a line of a block holds of a message. */
const EXCERPT_CHARACTERS = 398;
/** Text before the match that an excerpt begins with. */
const LEAD_CHARACTERS = 80;

export interface MatchedMessage extends StoredMessage {
  readonly speaker: string;
  readonly hit: Hit;
}

/** The messages that were found, best first and clipped around what was asked for; of equal ones the newest first. */
export function matchedMessages(
  query: string | undefined,
  messages: readonly StoredMessage[],
  hits: readonly Hit[],
): MatchedMessage[] {
  const wanted = new Set(queryTerms(query ?? ""));
  const byId = new Map(hits.map((hit) => [hit.documentId, hit]));
  return messages
    .flatMap((message) => {
      const hit = byId.get(message.id);
      if (!hit) return [];
      return [
        { ...message, speaker: speakerOf(message), text: excerpt(message.text, wanted), hit },
      ];
    })
    .sort(
      (a, b) =>
        b.hit.match - a.hit.match ||
        b.sentAt.getTime() - a.sentAt.getTime() ||
        (a.id < b.id ? 1 : -1),
    );
}

function excerpt(text: string, wanted: ReadonlySet<string>): string {
  if (text.length <= EXCERPT_CHARACTERS) return text;
  const match = firstMatch(text, wanted);
  const start = Math.max(0, Math.min(match - LEAD_CHARACTERS, text.length - EXCERPT_CHARACTERS));
  const cut = text.slice(start, start + EXCERPT_CHARACTERS);
  const end = start + EXCERPT_CHARACTERS < text.length ? "…" : "";
  // A cut through a surrogate pair leaves half a character at either side.
  return `${start > 0 ? "…" : ""}${cut.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")}${end}`;
}

/** Where the first word stands that the query has too; the beginning where none does, as with a match by meaning. */
function firstMatch(text: string, wanted: ReadonlySet<string>): number {
  for (const { 0: word, index } of text.matchAll(/\S+/gu)) {
    if (analyse(word).terms.some((term) => wanted.has(term))) return index;
  }
  return 0;
}
