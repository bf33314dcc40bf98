/**
 * The word as its own token at the end: what follows holds no letter or digit, and what touches it before neither, nor
 * the slash of an address.
 */
const OPT_OUT = /(?<![\p{L}\p{N}/])#noremember[^\p{L}\p{N}]*$/iu;
/** Characters that keyboards, editors and copying leave behind unseen. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/**
 * A message whose last token is #noremember opts its turn out, in any case and width, whatever brackets, quotes, signs
 * or emoji surround it. In doubt it does: what should have been learned can be said again.
 */
export function optsOut(text: string | null): boolean {
  return text !== null && OPT_OUT.test(text.replace(INVISIBLE, "").normalize("NFKC"));
}
