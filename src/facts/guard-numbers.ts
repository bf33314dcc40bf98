const UNITS = words({
  zero: 0,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  first: 1,
  second: 2,
  third: 3,
  fourth: 4,
  fifth: 5,
  sixth: 6,
  seventh: 7,
  eighth: 8,
  ninth: 9,
  tenth: 10,
  once: 1,
  twice: 2,
  thrice: 3,
  double: 2,
  triple: 3,
  half: 0.5,
  dozen: 12,
  deux: 2,
  trois: 3,
  quatre: 4,
  cinq: 5,
  sept: 7,
  huit: 8,
  neuf: 9,
  dix: 10,
  onze: 11,
  douze: 12,
  treize: 13,
  quatorze: 14,
  quinze: 15,
  seize: 16,
  premier: 1,
  première: 1,
  deuxième: 2,
  troisième: 3,
  demi: 0.5,
  demie: 0.5,
  moitié: 0.5,
  douzaine: 12,
});
const TENS = words({
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  vingt: 20,
  trente: 30,
  quarante: 40,
  cinquante: 50,
  soixante: 60,
});
const SCALES = words({
  hundred: 100,
  thousand: 1000,
  million: 1e6,
  millions: 1e6,
  billion: 1e9,
  cent: 100,
  cents: 100,
  mille: 1000,
  milliard: 1e9,
  k: 1000,
});

function words(values: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(values));
}

/** Digits as they are written: an optional sign, groups of three, a decimal comma or point. */
const DIGITS = /^[-−]?\d[\d.,:/]*$/u;

/** What a number is called among words. */
const MARK = "#";

export function isNumber(word: string): boolean {
  return word.startsWith(MARK) && word.length > 1;
}

/**
 * Writes the numbers among words in one way, each where it stands: `10k`, `10,000` and `ten thousand` are one number.
 *
 * @param tokens lower case, digits apart from letters
 */
export function withNumbers(tokens: readonly string[]): string[] {
  const words: string[] = [];
  let open: number | undefined;
  let afterTens = false;
  const close = () => {
    if (open !== undefined) words.push(MARK + open);
    open = undefined;
  };
  for (const token of tokens) {
    const unit = UNITS.get(token);
    const tens = TENS.get(token);
    const scale = SCALES.get(token);
    if (open !== undefined && scale !== undefined) open *= scale;
    else if (open !== undefined && afterTens && unit !== undefined && unit < 10) open += unit;
    else {
      close();
      const value = DIGITS.test(token) ? numberOf(token) : (unit ?? tens);
      if (typeof value === "number") open = value;
      else words.push(value === undefined ? token : MARK + value);
    }
    afterTens = tens !== undefined;
  }
  close();
  return words;
}

/** What cannot be one number, such as a version or an address, stays as it is written. */
function numberOf(digits: string): number | string {
  const plain = digits.replace("−", "-").replace(/[.,:/]+$/u, "");
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/u.test(plain)) return Number(plain.replaceAll(",", ""));
  const value = Number(plain.replace(",", "."));
  return Number.isSafeInteger(Math.trunc(value)) && !/^-?0\d/u.test(plain) ? value : plain;
}
