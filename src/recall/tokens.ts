/** Claude's tokenizers count up to this much more than cl100k, measured over prose, code and other scripts. */
const SAFETY = 1.45;

/** Counts the tokens of a text, on the high side. */
export type CountTokens = (text: string) => number;

/** Loads the tokenizer on first use: its tables take a tenth of a second that a start can do without. */
export async function tokenCounter(): Promise<CountTokens> {
  const { countTokens } = await import("gpt-tokenizer/encoding/cl100k_base");
  // Text like "<|endoftext|>" is data here; by default the tokenizer throws on it.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => Math.ceil(countTokens(text, options) * SAFETY);
}
