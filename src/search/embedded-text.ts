/** Of the message before: its end is what an answer answers. */
export const BEFORE_CHARACTERS = 200;
/** Models read some 256 tokens and drop the rest. */
const READ_CHARACTERS = 1_200;
/** A longer text says itself what it is about; with another one's words before it, it is found for those. */
const SHORT_CHARACTERS = 200;
/** Of somebody who asks for advice, what they like is wanted, which the question does not say. */
const ADVICE =
  /\b(recommend\w*|suggest\w*|advi[cs]e|tips?|ideas?|help me|(?:should|can|could|would|do) (?:i|you)|what (?:are some|would be)|any (?:good|other)|looking for|best way|plan(?:ning)? (?:a|an|my|to)|ways? (?:for me )?to|options|conseil\w*|recommand\w*|sugg[eé]r\w*|id[eé]es?|aide[zr]?[- ]moi|je (?:devrais|pourrais|cherche))\b/i;

/** The end of the message before. */
export interface Before {
  readonly text: string;
  readonly isAssistant: boolean;
}

/** What is embedded of a fact. */
export function embeddedFact(key: string, valueText: string): string {
  const words = keyWords(key);
  return head(words === "" ? valueText : `${words}: ${valueText}`);
}

/** The words of a key. Segments such as `12` or `n12` tell members apart, and say nothing. */
export function keyWords(key: string): string {
  return key
    .split(/[._]/)
    .filter((segment) => !/^[a-z]{0,2}\d+$/.test(segment))
    .join(" ");
}

/** Of what was said before, who said it: in a chat of several people names stand before texts, and are not what these are about. */
export function withoutName(text: string): string {
  return text.replace(/^\p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*){0,2}: /u, "");
}

/**
 * What is embedded of a message: a short one after what it answers, unless that was the assistant's.
 *
 * Source: measured while choosing (docs/benchmarks.md, Recall): the one before in front of every message costs .035 of
 * recall@10 among long messages, in front of none .008 among short ones.
 */
export function embeddedMessage(text: string, before: Before | null): string {
  const said = text.trim();
  const belongs = before !== null && !before.isAssistant && text.length <= SHORT_CHARACTERS;
  return head(belongs ? `${before.text}\n${said}` : said);
}

/** What is embedded of a query: one or two texts, of which the sum is searched for. */
export function embeddedQuery(query: string): string[] {
  const texts = [query, ...(ADVICE.test(query) ? [`I prefer, like or dislike: ${query}`] : [])];
  return texts.map(head);
}

function head(text: string): string {
  return text.slice(0, READ_CHARACTERS).toWellFormed();
}
