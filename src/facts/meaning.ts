import { canonicalJson } from "../canonical-json.ts";

/** Ends of sentences only: a final `%`, `#`, quote or bracket carries meaning. */
const FINAL_PUNCTUATION = /[\s.!?…,;:。！？、]+$/u;

/**
 * A value's meaning as text to compare: strings without differences of Unicode form, case, white space and final
 * punctuation; anything else as canonical JSON. No word is ever dropped, least of all "not".
 */
export function meaningOf(value: unknown): string {
  if (typeof value !== "string") return canonicalJson(value);
  const plain = value.normalize("NFC").toLowerCase().normalize("NFC").trim().replace(/\s+/gu, " ");
  return JSON.stringify(plain.replace(FINAL_PUNCTUATION, "") || plain);
}

/** Whether two values under one key of one scope and agent say the same. Anything else is a contradiction. */
export function sameMeaning(a: unknown, b: unknown): boolean {
  return meaningOf(a) === meaningOf(b);
}
