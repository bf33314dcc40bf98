import { foldText, wordsOf } from "../facts/search-text.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Bounds the work a row costs. */
const MAX_TERMS = 24;
/** Shorter words would match the beginning of too many others. */
const MIN_PREFIX = 4;

/** What a query looks for. Nothing in it is a pattern: `%`, `_` and operators stand for themselves. */
export interface Terms {
  /** Whole words (and beginnings of longer ones). */
  readonly words: readonly string[];
  /** Pieces with a sign in them that means something, as they stand: `100%`, `c++`, an address. */
  readonly literals: readonly string[];
}

const SENTENCE_MARKS =
  /^[\s.,;:!?…()[\]{}"'«»“”‘’¿¡。，、！？]+|[\s.,;:!?…()[\]{}"'«»“”‘’¿¡。，、！？]+$/gu;

/** Reads a query. One of marks alone has no term, and finds nothing. */
export function termsOf(query: string): Terms {
  const folded = foldText(query);
  const pieces = folded.split(" ").map((piece) => piece.replace(SENTENCE_MARKS, ""));
  const literals = pieces.filter((piece) => /[^\p{L}\p{N}\p{M}]/u.test(piece));
  const all = wordsOf(folded);
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  const words = telling.length > 0 ? telling : all;
  // In scripts written without spaces texts are compared by pairs, which a single character is not.
  const single = words.filter((word) => [...word].length === 1 && /[^\p{ASCII}]/u.test(word));
  return {
    words: longest(words.filter((word) => !single.includes(word))),
    literals: longest([...literals, ...single]),
  };
}

/** Long words say most, short ones ("the", "is") least. */
function longest(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort((a, b) => b.length - a.length).slice(0, MAX_TERMS);
}

/** A text that every match of these terms contains one of, for a database to look for. */
export function fragmentsOf({ words, literals }: Terms): string[] {
  return [...new Set([...words.map(stemOf), ...literals])];
}

/** Plurals alone: real stemming belongs to a real index. */
function stemOf(word: string): string {
  return word.length > MIN_PREFIX - 1 && !/\d/.test(word) ? word.replace(/s$/, "") : word;
}

/**
 * How well folded texts answer a query, each 0 to 1 and 0 for no match: the matched terms' share, rare terms weighing
 * more. A word that only begins alike counts half; numbers are equal or not.
 */
export function relevanceOf(terms: Terms, texts: readonly string[]): number[] {
  const matched = texts.map((text) => matchesOf(terms, text));
  const weights = [...terms.words, ...terms.literals].map((_, term) => {
    const found = matched.filter((matches) => (matches[term] ?? 0) > 0).length;
    return found === 0 ? 0 : Math.log(1 + texts.length / found);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return matched.map((matches) => {
    const sum = matches.reduce((so, match, term) => so + match * (weights[term] ?? 0), 0);
    return total === 0 ? 0 : sum / total;
  });
}

function matchesOf({ words, literals }: Terms, text: string): number[] {
  const present = new Set(wordsOf(text));
  const stems = new Set([...present].map(stemOf));
  return [
    ...words.map((word) => {
      if (present.has(word) || stems.has(stemOf(word))) return 1;
      const begins = word.length >= MIN_PREFIX && !/\d/.test(word);
      return begins && [...present].some((other) => other.startsWith(stemOf(word))) ? 0.5 : 0;
    }),
    ...literals.map((literal) => (text.includes(literal) ? 1 : 0)),
  ];
}
