import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

const TABLE = new URL("./related-words.txt.br", import.meta.url);

/** A term that means nearly what another does, and how nearly: 1 to 100. */
interface RelatedTerm {
  readonly term: string;
  readonly weight: number;
}

/** Up to eight terms, the nearest first, ties by term; none for what the table does not know. */
export type RelatedTo = (term: string) => readonly RelatedTerm[];

let loaded: Promise<RelatedTo> | undefined;

/**
 * Loads the table on first use: 35 ms of CPU, and 2 MB of memory from then on. It knows English words alone;
 * `tools/related-words.ts` made it, and says how.
 */
export function relatedWords(): Promise<RelatedTo> {
  loaded ??= load().catch((error: unknown) => {
    // The next search tries again: a process may be short of file handles for a moment.
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function load(): Promise<RelatedTo> {
  const text = (await promisify(brotliDecompress)(await readFile(TABLE))).toString("latin1");
  const lines = new Map(
    text.split("\n").map((line) => {
      const end = line.indexOf(" ");
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
  return (term) => {
    const fields = lines.get(term)?.split(" ") ?? [];
    return Array.from({ length: fields.length / 2 }, (_, at) => ({
      term: fields[2 * at] as string,
      weight: Number(fields[2 * at + 1]),
    }));
  };
}
