import { createHash } from "node:crypto";
import { z } from "zod";
import { storable } from "../chat/message.ts";
import type { ImportedFact } from "../facts/imported.ts";
import { factKey } from "./fact-key.ts";
import { readLines } from "./lines.ts";
import { FileFault } from "./refusal.ts";

/** An entity with thousands of observations; what is longer is no line of a memory. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_VALUE_BYTES = 4096;
const MAX_TAG = 40;
/** Broken lines before the first good one, after which a file is another kind of file. */
const UNREAD_LINES = 100;

const Name = z.string().min(1).max(10_000).transform(storable);
const Line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("entity"),
    name: Name,
    entityType: z.string().transform(storable).catch(""),
    observations: z.array(z.unknown()).catch([]),
  }),
  z.object({ type: z.literal("relation"), from: Name, to: Name, relationType: Name }),
]);

/** Why something is not imported. */
type FactSkip =
  | "broken line"
  | "line too long"
  | "no text"
  | "too long for a fact (4 KiB)"
  | "twice in the file";

export type ReadFact =
  | { readonly fact: ImportedFact }
  | { readonly skipped: FactSkip; readonly line: number };

/**
 * The facts of a file of `@modelcontextprotocol/server-memory`: one for each observation and relation. The file may hold
 * an entity several times, as the server leaves it after two writers; what it says twice counts once.
 */
export async function* readServerMemory(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ReadFact> {
  const seen = new Set<string>();
  const unread: ReadFact[] = [];
  let isMemory = false;
  for await (const { number, text } of readLines(chunks, MAX_LINE_BYTES)) {
    if (text?.trim() === "") continue;
    const found = text === undefined ? "line too long" : factsOf(text);
    if (!isMemory && typeof found === "string") {
      unread.push({ skipped: found, line: number });
      if (unread.length === UNREAD_LINES) break;
      continue;
    }
    if (!isMemory) yield* unread;
    isMemory = true;
    for (const fact of typeof found === "string" ? [found] : found) {
      if (typeof fact === "string") {
        yield { skipped: fact, line: number };
      } else if (seen.has(fact.sourceMessageId)) {
        yield { skipped: "twice in the file", line: number };
      } else {
        seen.add(fact.sourceMessageId);
        yield { fact };
      }
    }
  }
  if (!isMemory && unread.length > 0) {
    throw new FileFault(
      "it is no file of @modelcontextprotocol/server-memory, which has one entity or relation a line, as JSON.",
    );
  }
}

function factsOf(text: string): FactSkip | (ImportedFact | FactSkip)[] {
  const parsed = Line.safeParse(parseJson(text));
  if (!parsed.success) return "broken line";
  const { data } = parsed;
  if (data.type === "relation") {
    const { from, to, relationType } = data;
    const value = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
    const key = factKey([from, 26], [relationType, 25], [to, 27]);
    return [factOf(key, value, [], ["relation", from, relationType, to])];
  }
  const tags = tagsOf(data.entityType);
  return data.observations.map((observation) => {
    if (typeof observation !== "string" || observation.trim() === "") return "no text";
    const value = storable(observation);
    return factOf(factKey([data.name, 30], [value, 49]), value, tags, ["entity", data.name, value]);
  });
}

function factOf(
  key: string,
  value: string,
  tags: string[],
  content: readonly string[],
): ImportedFact | FactSkip {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_VALUE_BYTES)
    return "too long for a fact (4 KiB)";
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("base64url");
  return { key, value, tags, sourceMessageId: `server-memory:${hash}` };
}

/** A tag `veille` would make it a fact about somebody else's site. */
function tagsOf(entityType: string): string[] {
  const tag = entityType.slice(0, MAX_TAG).toWellFormed().trim();
  return tag === "" || tag.toLowerCase() === "veille" ? [] : [tag];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
