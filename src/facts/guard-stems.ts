/**
 * Words for one thing in every use that a fact makes of them. One that says more or less ("man", "person") is another word.
 */
const SYNONYMS = [
  "child children kid",
  "woman women lady",
  "man men guy",
  "person people someone somebody",
  "bicycle bike",
  "motorcycle motorbike",
  "television tv telly",
  "telephone phone",
  "photograph photo picture",
  "mother mom mum mama maman mère",
  "father dad papa père",
  "start begin",
  "like enjoy",
  "live reside",
  "big large",
  "little small",
  "speak talk",
  "movie film",
  "job occupation",
  "apartment flat",
  "purchase buy",
  "physician doctor",
  "automobile car",
  "boat ship",
  "rock stone",
  "road street",
  "jump leap",
  "sofa couch",
  "group bunch",
  "okay ok",
  "shop store",
  "client customer",
  "quick quickly fast rapid rapidly",
  "ill sick",
  "glad happy",
  "gift present",
  "color colour",
  "favorite favourite",
  "center centre",
  "vegetable veggie",
  "holiday vacation",
  "habiter habite résider réside",
  "voiture auto",
  "vélo bicyclette",
].map((group) => group.split(" "));

/** Participles that do not end in -ed. */
const PARTICIPLES = [
  "eat eaten, drink drunk, drive driven, wear worn, break broken, hold held, sing sung, write written, ride ridden",
  "throw thrown, take taken, give given, feed fed, build built, buy bought, catch caught, teach taught, bring brought",
  "keep kept, lose lost, meet met, pay paid, see seen, sell sold, send sent, show shown, shoot shot, speak spoken",
  "spend spent, steal stolen, tell told, tear torn, win won, draw drawn, choose chosen, grow grown, know known, hide hidden",
]
  .flatMap((line) => line.split(", "))
  .map((pair) => pair.split(" ") as [base: string, participle: string]);

const BASES: ReadonlyMap<string, string> = new Map(PARTICIPLES.map(([base, past]) => [past, base]));

const FIRST_OF_GROUP: ReadonlyMap<string, string> = new Map(
  SYNONYMS.flatMap(([first = "", ...others]) =>
    others.map((word) => [inflected(word), inflected(first)] as const),
  ),
);

/** What forms of one word and its synonyms have in common. */
export function stemOf(word: string): string {
  const stem = inflected(BASES.get(word) ?? word);
  return FIRST_OF_GROUP.get(stem) ?? stem;
}

/** Without plural, -ing, -ed and the endings of "wooden" and "sandy": a stronger stemmer takes "universal" for "university". */
function inflected(word: string): string {
  if (word.length < 4) return word;
  const singular = word
    .replace(/ies$/u, "y")
    .replace(/(?<=s|x|z|ch|sh)es$/u, "")
    .replace(/(?<![su])s$/u, "");
  const bare = singular.replace(/(?<=[aeiouy].*)(ing|ed)$/u, "");
  const single = bare === singular ? bare : bare.replace(/([bdgmnprt])\1$/u, "$1");
  return single.replace(/(?<=..)(e|é|ée)$/u, "").replace(/(?<=.{4})(en|y|ful|fully|ly)$/u, "");
}

export function isPlural(word: string): boolean {
  return /[^su]s$/u.test(word);
}

/** A past tense or a participle. */
export function isPast(word: string): boolean {
  return BASES.has(word) || /(ed|é|ée|és|ées|ait|aient|ais)$/u.test(word);
}
