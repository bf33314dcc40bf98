import { newStemmer } from "snowball-stemmers";
import { foldText, wordsOf } from "../facts/search-text.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Of one text, in characters: beyond it a text is a document of its own, and one message must not cost a second. */
export const SEARCHED_CHARACTERS = 20_000;
/** Longer terms are cut: an index entry has to fit on a page. */
const TERM_CHARACTERS = 64;
const CACHED_STEMS = 50_000;
/** A shorter French stem stands for too many English words ("user" would become "us"). */
const MIN_STEM = 4;

const POSSESSIVE = /(?<=[\p{L}\p{N}])['’]s(?![\p{L}\p{N}\p{M}])/gu;
const MARK = String.raw`[\s.,;:!?…()[\]{}"'«»“”‘’¿¡。，、！？*_\x60~|<>=–—-]+`;
const OUTER_MARKS = new RegExp(`^${MARK}|${MARK}$`, "gu");
/** A sign that means something: `100%`, `c++`, `#tag`, an address. Not the hyphen or apostrophe of a word. */
const SIGN = /[^\p{L}\p{N}\p{M}'’‘\-–—/]/u;
/** Of a date or a number: `2026-11-30`, `3/22`. */
const NUMBER_SIGN = /\p{N}.*[-/]|[-/].*\p{N}/u;
const TELLING = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
/** As `wordsOf` has them: runs whose words nothing separates. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}]/gu;

/** A text as the index knows it: terms in the order of the text, those that say nothing apart. */
export interface Analysis {
  readonly terms: readonly string[];
  readonly stopWords: readonly string[];
}

/**
 * The terms of a document: stems of its words, pairs and single characters of scripts written without spaces, and
 * pieces with a telling sign as they stand, beside the words in them. Nothing is ever a pattern.
 */
export function analyse(text: string): Analysis {
  const { words, pieces, folded } = read(text);
  return sorted([...words, ...(folded.match(UNSPACED) ?? []), ...pieces]);
}

/**
 * The distinct terms that a query looks for. A single character of a script without spaces only where it stands alone:
 * else the pairs tell more. Of stop words alone: those.
 */
export function queryTerms(text: string): string[] {
  const { words, pieces } = read(text);
  const { terms, stopWords } = sorted([...words, ...pieces]);
  return [...new Set(terms.length > 0 ? terms : stopWords)];
}

function read(text: string) {
  const folded = foldText(text.slice(0, SEARCHED_CHARACTERS)).replace(POSSESSIVE, "");
  const pieces = folded
    .split(" ")
    // Cut first: what is tried on a piece takes time by its square.
    .map((piece) => cut(piece).replace(OUTER_MARKS, ""))
    .filter((piece) => (SIGN.test(piece) || NUMBER_SIGN.test(piece)) && TELLING.test(piece));
  return { folded, pieces, words: wordsOf(folded).map(cut) };
}

function sorted(words: readonly string[]): Analysis {
  const isStop = (word: string) => STOP_WORDS.has(word);
  return {
    terms: words.filter((word) => !isStop(word)).map(stemOf),
    stopWords: words.filter(isStop),
  };
}

function cut(term: string): string {
  return term.length > TERM_CHARACTERS ? term.slice(0, TERM_CHARACTERS).toWellFormed() : term;
}

const english = newStemmer("english");
const french = newStemmer("french");
const stems = new Map<string, string>();

/**
 * One stem for both languages, the French one of the English one: texts need not say which language they are in, and words
 * that either stemmer takes for the same stay the same. Measured better than either alone and than both as two terms.
 */
export function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const stem = /^[a-z]{3,}$/.test(word) ? bothStems(word) : word;
  if (stems.size >= CACHED_STEMS) stems.clear();
  stems.set(word, stem);
  return stem;
}

function bothStems(word: string): string {
  const stem = english.stem(word);
  const shorter = french.stem(stem);
  return shorter.length >= MIN_STEM ? shorter : stem;
}
