import { type ExtractionAnswer, ExtractorFault } from "../llm/extractor.ts";

const CUT_SHORT = new Set(["max_tokens", "model_context_window_exceeded"]);
const FENCED = /```(?:json)?\s*([\s\S]*?)```/g;
const OBJECT_START = /\{\s*"facts"\s*:/g;
/** More beginnings than this are a model that runs in circles; each costs a look at the whole text. */
const MAX_STARTS = 20;

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
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed !== "object" || parsed === null || !("facts" in parsed)) return undefined;
    return Array.isArray(parsed.facts) ? parsed.facts : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined where the text holds no such object, or several that differ */
function factsWithin(text: string): readonly unknown[] | undefined {
  const fenced = [...text.matchAll(FENCED)].map(([, inside = ""]) => inside);
  const found = [...fenced, ...objectsIn(text)].flatMap((json) => {
    const facts = factsOf(json);
    return facts ? [facts] : [];
  });
  return new Set(found.map((facts) => JSON.stringify(facts))).size === 1 ? found[0] : undefined;
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
