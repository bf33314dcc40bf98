/** A message whose last token is #noremember (any case, then only space or punctuation) opts its turn out. */
const OPT_OUT = /(?:^|\s)#noremember[\s\p{P}]*$/iu;

export function optsOut(text: string | null): boolean {
  return text !== null && OPT_OUT.test(text);
}
