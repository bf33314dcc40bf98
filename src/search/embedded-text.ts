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

/** What is embedded of a fact. Segments of a key that hold a digit are numbers of members, and say nothing. */
export function embeddedFact(key: string, valueText: string): string {
  const words = key.split(/[._]/).filter((segment) => !/\d/.test(segment));
  return head(words.length > 0 ? `${words.join(" ")}: ${valueText}` : valueText);
}

/**
 * What is embedded of a message: a short one after what it answers, unless that was the assistant's.
 *
 * Source: measured on chats (docs/benchmarks.md): before every message the one before costs a tenth of what is found
 * among long messages, before none it costs a hundredth among short ones.
 */
export function embeddedMessage(speaker: string, text: string, before: Before | null): string {
  const said = `${speaker}: ${text.trim()}`;
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
