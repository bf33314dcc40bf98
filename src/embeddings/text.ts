const WORD = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;

/**
 * The part of a text that is embedded: at most `maxBytes` of UTF-8, cut between characters, well-formed.
 *
 * @returns undefined where it holds neither a letter nor a digit: models give those a vector all the same, of nothing
 */
export function headOf(text: string, maxBytes: number): string | undefined {
  const trimmed = text.trim();
  const { read } = new TextEncoder().encodeInto(trimmed, new Uint8Array(maxBytes));
  const head = trimmed.slice(0, read).toWellFormed();
  return WORD.test(head) ? head : undefined;
}

/** Whether at least half of the letters are Latin ones; true of a text without letters. */
export function isMostlyLatin(text: string): boolean {
  const letters = text.match(LETTER)?.length ?? 0;
  return 2 * (text.match(LATIN)?.length ?? 0) >= letters;
}
