import { foldText } from "../facts/search-text.ts";
import { relevanceOf, type Terms } from "./match.ts";
import type { StoredMessage } from "./repository.ts";

/** More of a chat than this belongs to get_chat_history. */
const MAX_MESSAGES = 10;
const EXCERPT_CHARACTERS = 400;
/** Text before the match that an excerpt begins with. */
const LEAD_CHARACTERS = 80;

export interface MatchedMessage extends StoredMessage {
  readonly speaker: string;
}

/** The messages that answer a query best, clipped around the match; of equal ones the newest first. */
export function matchMessages(terms: Terms, messages: readonly StoredMessage[]): MatchedMessage[] {
  const folded = messages.map(({ text }) => foldText(text));
  const relevance = relevanceOf(terms, folded);
  return messages
    .map((message, index) => ({ message, match: relevance[index] ?? 0, text: folded[index] ?? "" }))
    .filter(({ match }) => match > 0)
    .sort((a, b) => b.match - a.match)
    .slice(0, MAX_MESSAGES)
    .map(({ message, text }) => ({
      ...message,
      speaker: speakerOf(message),
      text: excerpt(message.text, firstMatch(terms, text)),
    }));
}

function speakerOf({ direction, forwarded }: StoredMessage): string {
  if (direction === "outbound") return "assistant";
  return forwarded ? "user (forwarded)" : "user";
}

function firstMatch({ words, literals }: Terms, folded: string): number {
  const places = [...words, ...literals]
    .map((term) => folded.indexOf(term))
    .filter((at) => at >= 0);
  return places.length > 0 ? Math.min(...places) : 0;
}

/** Folding moves characters by a few at most, which the lead makes up for. */
function excerpt(text: string, match: number): string {
  if (text.length <= EXCERPT_CHARACTERS) return text;
  const start = Math.max(0, Math.min(match - LEAD_CHARACTERS, text.length - EXCERPT_CHARACTERS));
  const cut = text.slice(start, start + EXCERPT_CHARACTERS);
  const end = start + EXCERPT_CHARACTERS < text.length ? "…" : "";
  // A cut through a surrogate pair leaves half a character at either side.
  return `${start > 0 ? "…" : ""}${cut.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")}${end}`;
}
