import { createHash } from "node:crypto";
import type { Claim } from "../facts/claims.ts";
import type { FactScopeName } from "../facts/fact.ts";
import { textOfValue } from "../facts/search-text.ts";
import type { CountTokens } from "../recall/tokens.ts";
import { type Analysis, analyse } from "./analysis.ts";
import { type Before, embeddedFact, embeddedMessage, keyWords } from "./embedded-text.ts";
import { factLine, messageLine, speakerOf } from "./lines.ts";

const MAX_TERMS = 1_000;
/** What a small integer column holds. */
const MAX_COUNT = 32_767;
/** Of one claim, newest first: more would only repeat it. */
const STATEMENTS_SEARCHED = 20;

interface Posting {
  readonly term: string;
  /** In the text itself, and with the end of the message before. */
  readonly frequency: number;
  readonly contextFrequency: number;
}

/** What the index keeps of a text. */
export interface Content {
  readonly postings: readonly Posting[];
  readonly length: number;
  readonly contextLength: number;
  readonly tokens: number;
  readonly textHash: string;
  readonly wordsHash: string;
}

export interface MessageText {
  readonly direction: "inbound" | "outbound";
  readonly forwarded: boolean;
  readonly text: string;
  readonly sentAt: Date;
  /** The end of the message before; null where there is none. */
  readonly before: Before | null;
}

/**
 * What is searched of a claim: the day it was last stated, its key's words, its tags and its wordings. Facts are short
 * and may be of words that otherwise say nothing ("The Who"), so those are indexed too; they add nothing to its length.
 */
export function factContent(scope: FactScopeName, claim: Claim, count: CountTokens): Content {
  const { key, tags, value, rows } = claim;
  const values = rows.slice(-STATEMENTS_SEARCHED).map((row) => analyse(textOfValue(row.value)));
  const wordings = new Map(
    values.map((wording) => [JSON.stringify([...wording.terms, ...wording.stopWords]), wording]),
  );
  const parts = [
    analyse(dayOf(rows.at(-1)?.observedAt ?? claim.lastConfirmed)),
    analyse([keyWords(key), ...tags].join(" ")),
    ...wordings.values(),
  ];
  const terms = parts.flatMap((part) => part.terms);
  const stopWords = parts.flatMap((part) => part.stopWords);
  return {
    ...contentOf({ own: [...terms, ...stopWords], ownLength: terms.length, before: [] }),
    tokens: count(`${factLine(scope, key, value)}\n`),
    textHash: hashOf(embeddedFact(key, textOfValue(value))),
  };
}

/** What is searched of a message: its day, its text and, as context, the end of the message before. */
export function messageContent(message: MessageText, count: CountTokens): Content {
  const { text, sentAt, before, direction } = message;
  const speaker = speakerOf(message);
  const own = [
    ...telling(analyse(dayOf(sentAt))),
    ...(direction === "outbound" ? ["assistant"] : []),
    ...telling(analyse(text)),
  ];
  const context = before === null ? [] : telling(analyse(before.text));
  return {
    ...contentOf({ own, ownLength: own.length, before: context }),
    tokens: count(`${messageLine(sentAt, speaker, text)}\n`),
    textHash: hashOf(embeddedMessage(text, before)),
  };
}

/** A text of nothing but stop words is found by those. */
function telling({ terms, stopWords }: Analysis): readonly string[] {
  return terms.length > 0 ? terms : stopWords;
}

function contentOf(words: {
  readonly own: readonly string[];
  readonly ownLength: number;
  readonly before: readonly string[];
}) {
  const counts = new Map<string, { own: number; context: number }>();
  const add = (term: string, own: 0 | 1) => {
    const found = counts.get(term);
    if (found) {
      found.own += own;
      found.context += 1;
    } else if (counts.size < MAX_TERMS) counts.set(term, { own, context: 1 });
  };
  for (const term of words.own) add(term, 1);
  for (const term of words.before) add(term, 0);
  const postings: Posting[] = [...counts].map(([term, { own, context }]) => ({
    term,
    frequency: Math.min(own, MAX_COUNT),
    contextFrequency: Math.min(context, MAX_COUNT),
  }));
  const length = Math.min(words.ownLength, MAX_COUNT);
  const contextLength = Math.min(words.ownLength + words.before.length, MAX_COUNT);
  return { postings, length, contextLength, wordsHash: hashOf([postings, length, contextLength]) };
}

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** E.g. `8 May 2023`: as people ask for it. */
function dayOf(date: Date): string {
  return DAY.format(date);
}

function hashOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}
