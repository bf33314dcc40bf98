import { type ExtractionAnswer, ExtractorFault } from "../llm/extractor.ts";

const CUT_SHORT = new Set(["max_tokens", "model_context_window_exceeded"]);
const FENCED = /```(?:json)?\s*([\s\S]*?)```/g;
const OBJECT_START = /\{\s*"facts"\s*:/g;
/** More beginnings than this are a model that runs in circles; each costs a look at the whole text. */
const MAX_STARTS = 20;

/** Strings, to be passed over, and numbers. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** What no fact can hold, as JSON: it costs the draft that it stands in. */
const UNSTORABLE = String.raw`"\u0000"`;

/**
 * The drafts of a model's answer, as they came. A code fence or prose around the JSON is forgiven as long as there is
 * one object that it can mean.
 *
 * @throws ExtractorFault refused, truncated or unreadable: what cannot be read is never taken for "nothing to learn"
 */
export function readAnswer({ text, stopReason }: ExtractionAnswer): readonly unknown[] {
  if (stopReason === "refusal") throw new ExtractorFault("refused");
  if (CUT_SHORT.has(stopReason)) throw new ExtractorFault("truncated");
  const found = factsOf(text) ?? factsWithin(text);
  if (!found) throw new ExtractorFault("unreadable");
  return found;
}

function factsOf(json: string): readonly unknown[] | undefined {
  try {
    const parsed = parseExactly(json);
    if (typeof parsed !== "object" || parsed === null || !("facts" in parsed)) return undefined;
    return Array.isArray(parsed.facts) ? parsed.facts : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Puts what cannot be stored in place of numbers that JavaScript would change. In the text: a reviver sees the source
 * too, but calls itself for each level, and one deep value would exhaust the stack at the cost of the whole answer.
 *
 * @throws SyntaxError
 */
function parseExactly(json: string): unknown {
  const parsed: unknown = JSON.parse(json);
  const exact = json.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || isExact(token) ? token : UNSTORABLE,
  );
  return exact === json ? parsed : JSON.parse(exact);
}

/** Doubles hold 15 digits whatever they are; with more, only what is printed as it was written. */
function isExact(literal: string): boolean {
  const value = Number(literal);
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER) || Object.is(value, -0)) return false;
  const digits = literal.replace(/e.*$/i, "").replace(/\D/g, "").replace(/^0+/, "");
  if (value === 0) return digits === "";
  return digits.length <= 15 || String(value) === literal;
}

/** @returns undefined where the text holds no such object, or several that differ */
function factsWithin(text: string): readonly unknown[] | undefined {
  const fenced = [...text.matchAll(FENCED)].map(([, inside = ""]) => inside);
  // Told apart as text: writing them out again would not survive a value that nests without end.
  const found = new Map<string, readonly unknown[]>();
  for (const json of [...fenced, ...objectsIn(text)]) {
    const facts = factsOf(json);
    if (facts) found.set(json.replace(/\s+/g, ""), facts);
  }
  const [only, ...others] = found.values();
  return others.length === 0 ? only : undefined;
}

function objectsIn(text: string): string[] {
  const objects: string[] = [];
  let end = 0;
  for (const { index } of [...text.matchAll(OBJECT_START)].slice(0, MAX_STARTS)) {
    if (index < end) continue;
    const to = endOfObject(text, index);
    if (to === -1) continue;
    objects.push(text.slice(index, to));
    end = to;
  }
  return objects;
}

/** Where the braces that open at `from` are closed again, -1 if nowhere; those inside strings do not count. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return -1;
}
