import { createHash, randomInt } from "node:crypto";

/** Crockford's base32: no I, L, O or U, which are mistaken for other characters. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** Almost 50 bits: with five codes open for a quarter of an hour, nobody guesses one. */
const LENGTH = 10;

/**
 * A text that is a code and nothing else, as people type it, as a regular expression of JavaScript and PostgreSQL alike,
 * in any case. Telegram's deep link sends it behind `/start`. A code has a digit that cannot be mistaken for a letter, so
 * that "everything" is none.
 */
export const CODE_PATTERN = "^\\s*(/start\\s+)?(?=.*[2-9])([0-9a-z][\\s-]*){9}[0-9a-z]\\s*$";
const CODE = new RegExp(CODE_PATTERN, "i");
const START = /^\s*\/start\s+/i;

/** A new code as it is shown: `XXXXX-XXXXX`. */
export function newCode(): string {
  const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  if (!/[2-9]/.test(letters.join(""))) return newCode();
  return `${letters.slice(0, LENGTH / 2).join("")}-${letters.slice(LENGTH / 2).join("")}`;
}

/** The code that a text is, in one form; undefined for a text that says anything else. */
export function codeIn(text: string | null): string | undefined {
  if (text === null || text.length > 40 || !CODE.test(text)) return undefined;
  const letters = text
    .replace(START, "")
    .replaceAll(/[\s-]/g, "")
    .toUpperCase()
    .replaceAll(/[IL]/g, "1")
    .replaceAll("O", "0");
  return letters.includes("U") ? undefined : letters;
}

/** What is stored of a code. With its org: the same letters of another org are another code. */
export function hashCode(orgId: string, code: string): string {
  return createHash("sha256")
    .update(`${orgId} ${code.replaceAll("-", "")}`)
    .digest("hex");
}
