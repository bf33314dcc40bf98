import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LocalEmbedder } from "../src/embeddings/local.ts";
import { mayMeanTheSame } from "../src/facts/guard.ts";
import { sameMeaning } from "../src/facts/meaning.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { benchData } from "./recall-sets.ts";
import { count, type Table } from "./table.ts";
import { CachedEmbedder } from "./vector-cache.ts";

const SETS = ["sick", "stsb-en", "halumem_fields", "beam_ku"];
/** How a set calls pairs that have to be merged, and pairs that must not be. The others are neither. */
const DUPLICATES: readonly string[] = ["dup"];
const CONTRADICTIONS: readonly string[] = ["contradiction", "update"];
const THRESHOLDS = [0.7, 0.75, 0.8, 0.85, 0.9, 0.92];
/** The cosine alone that is often taken for the same meaning. */
const ALONE = 0.92;
const TEXTS_A_CALL = 256;

interface Row {
  readonly label: string;
  readonly a: string;
  readonly b: string;
}

interface Judged extends Row {
  readonly set: string;
  readonly cosine: number;
  readonly isSame: boolean;
  readonly mayBeSame: boolean;
}

/**
 * How many pairs that say the same in other words would be merged under one key, and how many that contradict each other
 * or are two values of one attribute. Data: `pairs` under BENCH_DATA, default ../shared/bench/data. No database.
 */
export const duplicates: Benchmark = async (options) => {
  const found = SETS.flatMap((set) => readSet(set, options));
  if (found.length === 0) throw new Error(`no set of pairs in ${benchData()}: set BENCH_DATA`);
  const embedder = new CachedEmbedder(new LocalEmbedder());
  try {
    const { fingerprint, mergeThreshold } = await embedder.model();
    const pairs = await judge(found, embedder, options);
    const sets = Map.groupBy(pairs, ({ set }) => set);
    const counts = (some: readonly Judged[], labels: readonly string[]) => {
      const of = some.filter(({ label }) => labels.includes(label));
      return { n: of.length, merged: of.filter((pair) => isMerged(pair, mergeThreshold)).length };
    };
    const results = [...sets].map(([set, some]) => [
      set,
      { duplicates: counts(some, DUPLICATES), contradictions: counts(some, CONTRADICTIONS) },
    ]);
    const missing = SETS.filter((set) => !sets.has(set));
    return {
      databases: [`model ${fingerprint}, merged from a cosine of ${mergeThreshold} on`],
      tables: [tableOf(pairs)],
      json: { benchmark: "duplicates", ...Object.fromEntries(results), mergeThreshold, missing },
    };
  } finally {
    await embedder.close();
  }
};

function readSet(set: string, { say }: BenchmarkOptions): (Row & { set: string })[] {
  const file = join(benchData(), "pairs", `${set}.jsonl`);
  if (!existsSync(file)) {
    say(`the set "${set}" was not found: ${file}`);
    return [];
  }
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => ({ ...(JSON.parse(line) as Row), set }));
}

async function judge(
  rows: readonly (Row & { set: string })[],
  embedder: CachedEmbedder,
  { say, signal }: BenchmarkOptions,
): Promise<Judged[]> {
  const texts = [...new Set(rows.flatMap(({ a, b }) => [a, b]))];
  const vectors = new Map<string, Float32Array | null>();
  for (let at = 0; at < texts.length; at += TEXTS_A_CALL) {
    const some = texts.slice(at, at + TEXTS_A_CALL);
    const made = await embedder.embed(some, "background", signal);
    for (const [n, text] of some.entries()) vectors.set(text, made[n] ?? null);
    say(`${count(vectors.size)} of ${count(texts.length)} texts`);
  }
  return rows.map((row) => ({
    ...row,
    cosine: cosine(vectors.get(row.a), vectors.get(row.b)),
    isSame: sameMeaning(row.a, row.b),
    mayBeSame: mayMeanTheSame(row.a, row.b),
  }));
}

function cosine(a: Float32Array | null | undefined, b: Float32Array | null | undefined): number {
  return a && b ? a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) : -1;
}

function isMerged({ isSame, mayBeSame, cosine }: Judged, threshold: number): boolean {
  return isSame || (mayBeSame && cosine >= threshold);
}

function tableOf(pairs: readonly Judged[]): Table {
  const groups = Map.groupBy(pairs, ({ set, label }) => `${set}: ${label}`);
  const share = (some: readonly Judged[], holds: (pair: Judged) => boolean) =>
    `${((some.filter(holds).length / some.length) * 100).toFixed(1)} %`;
  const line = (name: string, some: readonly Judged[]) => [
    name,
    count(some.length),
    ...THRESHOLDS.map((threshold) => share(some, (pair) => isMerged(pair, threshold))),
    share(some, ({ isSame }) => isSame),
    share(some, (pair) => pair.cosine >= ALONE),
  ];
  const all = (title: string, labels: readonly string[]) =>
    line(
      title,
      pairs.filter(({ label }) => labels.includes(label)),
    );
  return {
    title: "Pairs that would be merged under one key, by the cosine that it takes",
    columns: [
      "set: what its pairs are",
      "pairs",
      ...THRESHOLDS.map((threshold) => `≥ ${threshold}`),
      "text alone",
      `cosine ≥ ${ALONE} alone`,
    ],
    rows: [
      all("all that say the same (dup)", DUPLICATES),
      all("all that do not (contradiction, update)", CONTRADICTIONS),
      ...[...groups].map(([name, some]) => line(name, some)),
    ],
    notes: [
      "Merged: equal after normalisation, or past the guard (numbers, negation, quantity, tense, persons, places, one word in",
      "place of another) and at least as close as the threshold. The last column is what a cosine without guard merges.",
    ],
  };
}
