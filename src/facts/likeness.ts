import { mayBeNear, mayMeanTheSame } from "./guard.ts";
import { sameMeaning } from "./meaning.ts";

/**
 * Cosine of key and value from which two texts are shown to a person, if the guard for showing lets them pass. Measured on
 * labelled pairs with MiniLM: 63 % of those that say the same, 3 % of contradictions, 5 % of changed values; among 1,282
 * facts of ten people 21 pairs, of which most are the same thing twice. From .85 on it would be 107.
 */
const NEAR = 0.9;
/** The same for equal values that say something by themselves: home and work may both be Paris, but not a whole address. */
const EQUAL = 0.75;

export interface Comparable {
  readonly key: string;
  readonly value: unknown;
}

/**
 * Whether two claims of one pocket under different keys may be one thing said twice, for a person to decide.
 *
 * @param cosine of what was embedded of them
 * @param mergeThreshold of the model, for texts that mean the same in other words
 * @returns 0 to 1, where 1 = their values are equal; undefined where they are two things
 */
export function likenessOf(
  a: Comparable,
  b: Comparable,
  cosine: number,
  mergeThreshold: number,
): number | undefined {
  if (a.key === b.key) return undefined;
  const near = Math.max(NEAR, mergeThreshold);
  if (sameMeaning(a.value, b.value)) {
    return cosine >= (saysSomething(a.value) ? EQUAL : near) ? 1 : undefined;
  }
  if (typeof a.value !== "string" || typeof b.value !== "string") return undefined;
  const isLike =
    (cosine >= near && mayBeNear(a.value, b.value)) ||
    (cosine >= mergeThreshold && mayMeanTheSame(a.value, b.value));
  return isLike ? cosine : undefined;
}

/** Lowest cosine that can make two claims alike. */
export function leastCosine(mergeThreshold: number): number {
  return Math.min(EQUAL, mergeThreshold);
}

/** One word, a number or yes and no are the values of many things. */
function saysSomething(value: unknown): boolean {
  return typeof value === "string"
    ? /\S\s+\S/u.test(value)
    : typeof value === "object" && value !== null;
}
