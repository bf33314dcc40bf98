const LIGATURES: Readonly<Record<string, string>> = { œ: "oe", æ: "ae", ß: "ss" };
/** Scripts written without spaces, and Korean, whose words end in particles: their text is matched by character pairs. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}]+/gu;

/**
 * Text as search compares it: lower case, no accents, compatibility forms resolved, single spaces. Only Latin-style
 * accents go; vowel and voicing marks of other scripts tell words apart. Never holds U+0000, which no column can.
 */
export function foldText(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll("\0", " ")
      // Marks are brought into order by pairs, which takes time by the square of their number; no letter has so many.
      .replace(/(\p{M}{8})\p{M}+/gu, "$1")
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[\u0300-\u036f]/gu, "")
      .normalize("NFC")
      .replace(/[œæß]/gu, (letter) => LIGATURES[letter] ?? letter)
      .replace(/\s+/gu, " ")
      .trim()
  );
}

/** Words of folded text; a run of an unspaced script gives its character pairs (or its one character). */
export function wordsOf(folded: string): string[] {
  return (folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).flatMap((run) => [
    ...run.replace(UNSPACED, " ").split(" ").filter(Boolean),
    ...(run.match(UNSPACED) ?? []).flatMap(pairsOf),
  ]);
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** What a text search of facts looks at: key segments, tags, and every name and leaf of the value. */
export function searchTextOf(fact: {
  readonly key: string;
  readonly tags: readonly string[];
  readonly value: unknown;
}): string {
  const parts = [fact.key.replace(/[._]/g, " "), ...fact.tags];
  collect(fact.value, parts);
  return foldText(parts.join(" "));
}

/** Every name and leaf of a value, as written. */
export function textOfValue(value: unknown): string {
  const parts: string[] = [];
  collect(value, parts);
  return parts.join(" ");
}

function collect(value: unknown, parts: string[]): void {
  if (typeof value !== "object") {
    parts.push(String(value));
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, parts);
  } else if (value !== null) {
    for (const [name, member] of Object.entries(value)) {
      parts.push(name);
      collect(member, parts);
    }
  }
}
