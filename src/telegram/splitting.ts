import { type FormattedText, sliceOf, trimmed } from "./formatted-text.ts";

/** What a message and the caption of a picture hold, in UTF-16 code units without markup. */
const MAX_TEXT = 4096;
export const MAX_CAPTION = 1024;

/** Where a text may end, best first: paragraphs, lines, sentences, words. A mark on a white space belongs to it. */
const ENDS = [
  /\n\s*\n(?![\p{M}\u200D])/gu,
  /\n(?![\p{M}\u200D])/gu,
  /(?<=[.!?…。！？]["'”’»)\]]{0,3})\s(?![\p{M}\u200D])|(?<=[。！？])/gu,
  /\s(?![\p{M}\u200D])/gu,
];

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * Parts of a text, none empty, none longer than its limit: `first` for the first one. Styles go on over a cut, and no
 * character that people see as one is cut.
 */
export function split(whole: FormattedText, first = MAX_TEXT): FormattedText[] {
  const parts: FormattedText[] = [];
  let rest = trimmed(whole);
  while (rest.text !== "") {
    const limit = parts.length === 0 ? first : MAX_TEXT;
    const at = rest.text.length <= limit ? rest.text.length : endOf(rest.text, limit);
    const part = trimmed(sliceOf(rest, 0, at));
    if (part.text !== "") parts.push(part);
    rest = trimmed(sliceOf(rest, at, rest.text.length));
  }
  return parts;
}

/** A part should not be less than half full, so that a few long words do not make many messages. */
function endOf(text: string, limit: number): number {
  const window = text.slice(0, limit + 1);
  for (const pattern of ENDS) {
    const at = [...window.matchAll(pattern)].map(({ index }) => index).findLast((i) => i <= limit);
    if (at !== undefined && at >= limit / 2) return at;
  }
  const character = graphemes.segment(text.slice(0, limit + 2)).containing(limit);
  if (character && character.index > 0) return character.index;
  // One character of more than a message: whatever is cut then, it is no surrogate pair.
  return /[\uD800-\uDBFF]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
}
