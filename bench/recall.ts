import type { Principal } from "../src/access/principal.ts";
import { LocalEmbedder } from "../src/embeddings/local.ts";
import type { Hit } from "../src/recall/fusion.ts";
import { Recall } from "../src/recall/query.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { openHost } from "./databases.ts";
import { type Judged, type Quality, quality } from "./recall-metrics.ts";
import { personOf, seedSet } from "./recall-seed.ts";
import { benchData, type Entry, type Question, type RecallSet, readSets } from "./recall-sets.ts";
import { seedOwner, settle } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import type { Table } from "./table.ts";
import { CachedEmbedder } from "./vector-cache.ts";

const BUDGET = 1400;
/** Hits that are judged. */
const DEPTH = 200;

/** Ways to search; the product's own is the first. */
const MODES = ["fused", "bm25", "vector"] as const;
type Mode = (typeof MODES)[number];
type Results = Record<Mode, Record<string, Quality>>;

/** Figures that others published for the same questions. Sources: docs/benchmarks.md. */
const PUBLISHED: readonly (readonly [string, string])[] = [
  ["LoCoMo's own best retriever, turns", "R@5 .567, R@10 .662"],
  ["a popular local memory server, LoCoMo sessions", "R@10 .603 by vectors, .889 hybrid"],
  ["other memories' context for a LoCoMo question", "4,400 to 7,000 tokens"],
];

/**
 * Which evidence is found for a question, and how much of it is in a block of 1,400 tokens: every text is remembered
 * and every question asked through the services. Data: BENCH_DATA, default ../shared/bench/data; protocol: its README.
 */
export const recall: Benchmark = async (options) => {
  const { sets, missing } = readSets(benchData());
  const embedder = new CachedEmbedder(new LocalEmbedder());
  const databases: string[] = [];
  const tables: Table[] = [];
  const results: Record<string, Results> = {};
  const ranked: string[][] = [];
  try {
    for (const engine of options.engines) {
      const host = await openHost(engine);
      let now = Date.UTC(2026, 0, 1);
      const services = await openServices(await host.create(), () => new Date(now), embedder);
      try {
        databases.push(host.description);
        const owner = await seedOwner(services);
        // A question that does not wait for the model would be answered by words, and so would those after it.
        await services.meaning?.check();
        const found: Results = { fused: {}, bm25: {}, vector: {} };
        const orders: string[] = [];
        for (const set of sets) {
          const say = (line: string) => options.say(`${host.name}, ${set.name}: ${line}`);
          const asked = await ask(
            services,
            owner,
            set,
            (at) => {
              now = at;
            },
            { ...options, say },
          );
          for (const mode of MODES) found[mode][set.name] = quality(asked[mode]);
          orders.push(...asked.fused.map(({ ranked: ids }) => JSON.stringify(ids.slice(0, 20))));
        }
        results[engine] = found;
        ranked.push(orders);
        tables.push(tableOf(host.name, sets, found, missing));
      } finally {
        await services.database.close();
        await host.close();
      }
    }
  } finally {
    await embedder.close();
  }
  const [first] = Object.values(results);
  const [one = [], other = one] = ranked;
  /** Of all questions, those whose first twenty are the same on both databases. */
  const sameIds = { questions: one.length, same: one.filter((ids, n) => ids === other[n]).length };
  return {
    databases,
    tables,
    json: { benchmark: "recall", ...first, sameIds, missing, databases: results },
  };
};

async function ask(
  services: Services,
  owner: Principal,
  set: RecallSet,
  setNow: (at: number) => void,
  { say, signal }: Pick<BenchmarkOptions, "say" | "signal">,
): Promise<Record<Mode, Judged[]>> {
  say(`remembering ${set.entries.length} texts`);
  const made = await seedSet(services, owner, set, setNow);
  // The first question about a person is the miss after which messages get their vectors.
  for (const corpus of new Set(set.entries.map((entry) => entry.corpus))) {
    await services.recall.recall(owner, question(set, corpus, "anything at all"));
  }
  say("embedding");
  await services.embedding?.run(signal);
  await settle(services);
  say(`asking ${set.questions.length} questions`);
  const judged: Record<Mode, Judged[]> = { fused: [], bm25: [], vector: [] };
  for (const one of set.questions) {
    signal.throwIfAborted();
    const input = question(set, one.corpus, one.text);
    const { hits, block } = await services.recall.inspect(owner, input);
    const list = set.kind === "facts" ? hits.facts : hits.messages;
    const inBlock = block.tiers.flatMap(({ lines }) =>
      lines.map(({ id }) => made.get(id)?.id ?? ""),
    );
    const ways = {
      fused: list.map(({ documentId }) => documentId),
      bm25: by(list, ({ words }) => words),
      vector: by(list, ({ cosine }) => cosine),
    };
    for (const mode of MODES) {
      judged[mode].push(judge(one, ways[mode], made, mode === "fused" ? inBlock : null));
    }
  }
  return judged;
}

function question(set: RecallSet, corpus: string, query: string): Recall {
  return Recall.parse({
    query,
    userId: personOf(set, corpus),
    scopes: ["user"],
    budgetTokens: BUDGET,
    limit: 50,
  });
}

/** Hits of one way of searching alone, best first. */
function by(hits: readonly Hit[], score: (hit: Hit) => number | null): string[] {
  return hits
    .filter((hit) => (score(hit) ?? 0) > 0)
    .toSorted((a, b) => (score(b) ?? 0) - (score(a) ?? 0) || (a.documentId < b.documentId ? -1 : 1))
    .map(({ documentId }) => documentId);
}

function judge(
  one: Question,
  documentIds: readonly string[],
  made: ReadonlyMap<string, Entry>,
  inBlock: readonly string[] | null,
): Judged {
  // Evidence of another person's question was put beside this one's as filler, not as an answer.
  const seen = documentIds
    .flatMap((id) => made.get(id) ?? [])
    .filter(({ own }) => own === undefined || own === one.id)
    .slice(0, DEPTH);
  return {
    ranked: seen.map(({ id }) => id),
    evidence: one.evidence,
    rankedSessions: [...new Set(seen.map(({ session }) => session))],
    sessions: one.sessions,
    inBlock,
  };
}

function tableOf(
  database: string,
  sets: readonly RecallSet[],
  found: Results,
  missing: readonly string[],
): Table {
  const share = (value: number | null | undefined) =>
    value === null || value === undefined ? "" : value.toFixed(3).replace(/^0/, "");
  return {
    title: `Evidence found, ${database}: words alone (BM25), vectors alone, and both as the product ranks`,
    columns: [
      "set",
      "questions",
      "BM25 R@10",
      "vector R@10",
      "R@1",
      "R@5",
      "R@10",
      "R@20",
      "NDCG@10",
      "MRR",
      "sessions R@10",
      "evidence in 1,400 tokens",
    ],
    rows: sets.map(({ name }) => {
      const { fused, bm25, vector } = {
        fused: found.fused[name],
        bm25: found.bm25[name],
        vector: found.vector[name],
      };
      return [
        name,
        String(fused?.n ?? 0),
        share(bm25?.["R@10"]),
        share(vector?.["R@10"]),
        share(fused?.["R@1"]),
        share(fused?.["R@5"]),
        share(fused?.["R@10"]),
        share(fused?.["R@20"]),
        share(fused?.["NDCG@10"]),
        share(fused?.MRR),
        share(fused?.["sessionR@10"]),
        share(fused?.["evidence@1400"]),
      ];
    }),
    notes: [
      ...PUBLISHED.map(([what, figure]) => `Published: ${what}: ${figure}.`),
      ...(missing.length > 0 ? [`Sets that were not found: ${missing.join(", ")}.`] : []),
    ],
  };
}
