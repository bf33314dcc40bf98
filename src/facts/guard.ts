import { isNumber, withNumbers } from "./guard-numbers.ts";
import { isPast, isPlural, stemOf } from "./guard-stems.ts";
import {
  BE,
  FUNCTION_WORDS,
  NEGATIONS,
  ONE,
  OPERATORS,
  PERSONS,
  RELATIONS,
} from "./guard-words.ts";

/** Beyond it a model that reads 256 tokens may not have seen the end. */
const MAX_WORDS = 100;
/**
 * Words of meaning that two texts share for each one that only one of them has. In a value as short as most are every word
 * counts: "likes red wine" is not "likes dry red wine".
 */
const SHARED_PER_MORE = 4;

/** A number with its sign, a word, or a symbol that means something: `C++` is not `C`, nor `B-` `B`. */
const TOKEN =
  /(?<![\p{L}\d])[-−]?\d[\d.,:/]*|\d[\d.,:/]*|[\p{L}\p{M}]+|(?<=\p{L})[-−](?![\p{L}\d])|[\p{S}#%@*/\\&]/gu;

/** A text as the guard compares it. */
interface Reading {
  readonly numbers: readonly string[];
  /** Negations and operators, each with the word that it stands before, and symbols: equal or not, never nearly. */
  readonly fixed: readonly string[];
  readonly persons: readonly string[];
  /** Stems of what is left, in order, with the relations between them. */
  readonly sequence: readonly string[];
  /** The word of each stem. */
  readonly content: ReadonlyMap<string, string>;
  /** Stems that an article says there is one of. */
  readonly single: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly isPassive: boolean;
}

/**
 * Whether two values may mean the same, whatever the cosine of their vectors: for a model "vegetarian" and "not vegetarian"
 * are close (.975), and so are 4500 and 6000 euros (.944). It says no to another number, negation, quantity, time,
 * condition or person, to one word in place of another, to changed places, and to more said in a short text. Made for
 * English and French; other scripts, and anything but text, only by their normalised form.
 */
export function mayMeanTheSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "string" || typeof b !== "string") return false;
  const [one, other] = withoutLabel(a, b).map(read);
  return (
    one !== undefined &&
    other !== undefined &&
    equal(one.numbers, other.numbers) &&
    equal(one.fixed, other.fixed) &&
    (one.persons.length === 0 || other.persons.length === 0 || equal(one.persons, other.persons)) &&
    saysNoMore(one, other) &&
    changesNoPlaces(one, other) &&
    changesNoPlaces(other, one)
  );
}

/**
 * Whether a person should be asked if two values say the same: the same numbers, and as many negations. Looser than what
 * a machine merges by.
 */
export function mayBeNear(a: string, b: string): boolean {
  const [one, other] = withoutLabel(a, b).map(read);
  const negations = ({ fixed }: Reading) => fixed.filter((said) => said.startsWith("not ")).length;
  return (
    one !== undefined &&
    other !== undefined &&
    equal(one.numbers, other.numbers) &&
    negations(one) === negations(other)
  );
}

/** "Job title: coach" and "Job title: teacher" share no word that counts. */
function withoutLabel(a: string, b: string): [string, string] {
  const [label] = /^[^:.\d]{1,60}:\s/u.exec(a) ?? [""];
  return b.startsWith(label) ? [a.slice(label.length), b.slice(label.length)] : [a, b];
}

function read(text: string): Reading | undefined {
  const plain = text.normalize("NFC");
  if (/\p{L}/u.test(plain.replace(/\p{Script=Latin}/gu, ""))) return undefined;
  const tokens = tokensOf(plain);
  if (tokens.length === 0 || tokens.length > MAX_WORDS) return undefined;
  const words = withNumbers(tokens.map((token) => token.toLowerCase()));
  const numbers: string[] = [];
  const content = new Map<string, string>();
  const sequence: string[] = [];
  const fixed: string[] = [];
  const persons: string[] = [];
  const single = new Set<string>();
  const open: string[] = [];
  const bind = (to: string) => fixed.push(...open.splice(0).map((operator) => `${operator} ${to}`));
  let isSingle = false;
  for (const [at, word] of words.entries()) {
    const person = PERSONS.get(word);
    // What stands together is one: 9:30, 2026/03/04, 3-1.
    if (isNumber(word)) numbers.push(isNumber(words[at - 1] ?? "") ? numbers.pop() + word : word);
    else if (NEGATIONS.has(word)) open.push("not");
    else if (person !== undefined) persons.push(person);
    else if (OPERATORS.has(word)) open.push(word);
    else if (!/\p{L}/u.test(word)) fixed.push(word);
    else if (!FUNCTION_WORDS.has(word)) {
      const stem = stemOf(word);
      bind(stem);
      sequence.push(stem);
      content.set(stem, word);
      if (isSingle && !isPlural(word)) single.add(stem);
      continue;
    }
    if (isNumber(word)) bind(word);
    isSingle = ONE.has(word);
    if (RELATIONS.has(word) || isNumber(word)) sequence.push(word);
  }
  bind("");
  if (content.size === 0 && numbers.length === 0) return undefined;
  return {
    numbers: numbers.sort(),
    fixed: fixed.sort(),
    persons,
    sequence,
    content,
    single,
    names: namesOf(tokens),
    isPassive: isPassive(words),
  };
}

/** Words with their case, digits apart from letters, and symbols that mean something. */
function tokensOf(text: string): string[] {
  const spelled = text
    .replace(/[’`]/gu, "'")
    .replace(/\b(ca|wo|sha)n't\b/giu, "can not")
    .replace(/n't\b/giu, " not")
    .replace(/(?<=\d)(st|nd|rd|th|ère|er|ème|e)\b/giu, "")
    .replace(/'ll\b/giu, " will")
    .replace(/'(s|re|ve|m|d)\b/giu, " ")
    .replace(/\b(ne\b|n')/giu, " ")
    .replace(/'/gu, " ");
  return spelled.match(TOKEN) ?? [];
}

/** Words with a capital, the first of a sentence among them; a title has too many to tell. */
function namesOf(tokens: readonly string[]): ReadonlySet<string> {
  const words = tokens.filter((token) => /\p{L}/u.test(token));
  const names = words.filter((word) => /^\p{Lu}/u.test(word) && word !== "I");
  if (names.length > words.length / 2) return new Set();
  return new Set(names.map((word) => stemOf(word.toLowerCase())));
}

/** One text may add to the other where enough is shared; neither may have a word in place of one of the other's. */
function saysNoMore(a: Reading, b: Reading): boolean {
  const onlyA = [...a.content.keys()].filter((stem) => !b.content.has(stem));
  const onlyB = [...b.content.keys()].filter((stem) => !a.content.has(stem));
  if (onlyA.length > 0 && onlyB.length > 0) return false;
  const [more, by] = onlyA.length > 0 ? [onlyA, a] : [onlyB, b];
  if (more.length === 0) return keepsForms(a, b);
  const shared = by.content.size - more.length;
  return (
    shared >= more.length * SHARED_PER_MORE &&
    !more.some((stem) => by.names.has(stem)) &&
    keepsForms(a, b)
  );
}

/** "lived" is not "lives", nor "a son" "sons". Participles after a form of "be" are left to the test of places. */
function keepsForms(a: Reading, b: Reading): boolean {
  const mayChangeVoice = a.isPassive || b.isPassive;
  for (const [stem, word] of a.content) {
    const other = b.content.get(stem);
    if (other === undefined) continue;
    if (!mayChangeVoice && isPast(word) !== isPast(other)) return false;
    if (a.single.has(stem) ? isPlural(other) : b.single.has(stem) && isPlural(word)) return false;
  }
  return true;
}

/** "A calls B" is not "B calls A", but "B is called by A" is. */
function changesNoPlaces(a: Reading, b: Reading): boolean {
  const inB = new Map(b.sequence.map((word, at) => [word, at]));
  const words = a.sequence.filter((word) => inB.has(word));
  const places = words.map((word) => inB.get(word) ?? 0);
  const swaps = places.some((x, i) =>
    places.some((y, j) => j > i + 1 && y < x && places.slice(i + 1, j).some((v) => y < v && v < x)),
  );
  return swaps === (a.isPassive !== b.isPassive);
}

function isPassive(words: readonly string[]): boolean {
  const be = words.findIndex((word) => BE.has(word));
  return be >= 0 && words.slice(be + 2).some((word) => word === "by" || word === "par");
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
