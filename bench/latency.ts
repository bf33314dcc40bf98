import type { Principal } from "../src/access/principal.ts";
import { LocalEmbedder } from "../src/embeddings/local.ts";
import { Recall } from "../src/recall/query.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type Engine, openHost } from "./databases.ts";
import { type Population, queryWords, seedFacts } from "./latency-seed.ts";
import { settle } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import { median, quantile } from "./statistics.ts";
import { count, figure, type Table } from "./table.ts";

const ROUNDS = 200;
const WARM_UP = 20;

const POPULATIONS: Readonly<Record<Engine, readonly Population[]>> = {
  postgres: [
    { orgs: 1000, factsPerOrg: 1000 },
    { orgs: 1, factsPerOrg: 100_000 },
  ],
  pglite: [
    { orgs: 100, factsPerOrg: 1000 },
    { orgs: 1, factsPerOrg: 100_000 },
  ],
};

/** The two ways to recall, and where the time of the second goes. */
const STAGES = ["list", "query", "embedding", "lexical", "vector", "assembly"] as const;
type Stage = (typeof STAGES)[number];

const NARROWING = {
  agents: ["atlas"],
  archived: false,
  filtered: { facts: false, messages: false },
};

interface Result {
  readonly facts: number;
  readonly orgs: number;
  readonly ms: Readonly<Record<Stage, { readonly p50: number; readonly p95: number }>>;
}

/**
 * Time of a recall through the services with synthetic facts and vectors: one org after the other is asked, so that no
 * cache is warmer than a server's. Queries are embedded by the real local model.
 */
export const latency: Benchmark = async (options) => {
  const embedder = new LocalEmbedder();
  const databases: string[] = [];
  const tables: Table[] = [];
  const json: Record<string, Result[]> = {};
  try {
    for (const engine of options.engines) {
      const host = await openHost(engine);
      try {
        databases.push(host.description);
        const results: Result[] = [];
        for (const population of populationsOf(engine, options.rows)) {
          const services = await openServices(await host.create(), undefined, embedder);
          try {
            options.say(`${host.name}: ${describe(population)}`);
            results.push(await measure(services, population, options));
          } finally {
            await services.database.close();
          }
        }
        json[engine] = results;
        tables.push(tableOf(host.name, results));
      } finally {
        await host.close();
      }
    }
  } finally {
    await embedder.close();
  }
  return { databases, tables, json: { benchmark: "latency", databases: json } };
};

/** @param rows sizes of one org, in place of the benchmark's own */
function populationsOf(engine: Engine, rows: readonly number[] | undefined): readonly Population[] {
  return rows?.map((factsPerOrg) => ({ orgs: 1, factsPerOrg })) ?? POPULATIONS[engine];
}

function describe({ orgs, factsPerOrg }: Population): string {
  return `${count(orgs * factsPerOrg)} facts in ${orgs === 1 ? "one org" : `${count(orgs)} orgs`}`;
}

async function measure(
  services: Services,
  population: Population,
  options: BenchmarkOptions,
): Promise<Result> {
  const { meaning, recall, retrieval, database } = services;
  if (!meaning) throw new Error("there is no embedder");
  const { id } = await meaning.model();
  const owners = await seedFacts(services, population, id, options);
  options.say("  indexes and statistics");
  for (const handler of services.handlers.filter(({ kind }) => kind === "vectors.index")) {
    await handler.run(
      { id: "", kind: handler.kind, orgId: null, payload: "{}", attempts: 1 },
      options,
    );
  }
  await settle(services);
  const times: Record<Stage, number[]> = {
    list: [],
    query: [],
    embedding: [],
    lexical: [],
    vector: [],
    assembly: [],
  };
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    options.signal.throwIfAborted();
    const owner = owners[Math.abs(round * 7919) % owners.length] as Principal;
    const query = queryWords(Math.abs(round));
    const take = async (stage: Stage, work: () => Promise<unknown>) => {
      const started = performance.now();
      const result = await work();
      if (round >= 0) times[stage].push(performance.now() - started);
      return result;
    };
    await take("list", () => recall.recall(owner, Recall.parse({})));
    await take("query", () => recall.recall(owner, Recall.parse({ query })));
    const scope = { name: "org", orgId: owner.orgId } as const;
    const vector = (await take("embedding", () => retrieval.vectorOf(query))) as Awaited<
      ReturnType<typeof retrieval.vectorOf>
    >;
    const words = (await take("lexical", () =>
      database.transactions.tenant(owner, (tx) => retrieval.byWords([scope], query, NARROWING, tx)),
    )) as Awaited<ReturnType<typeof retrieval.byWords>>;
    await take("vector", () => retrieval.byMeaningToo(words, vector));
    const last = (stage: Stage) => times[stage].at(-1) ?? 0;
    if (round >= 0) {
      times.assembly.push(
        Math.max(0, last("query") - last("embedding") - last("lexical") - last("vector")),
      );
    }
  }
  const ms = Object.fromEntries(
    STAGES.map((stage) => [
      stage,
      { p50: median(times[stage]), p95: quantile(times[stage], 0.95) },
    ]),
  ) as Result["ms"];
  return { facts: population.orgs * population.factsPerOrg, orgs: population.orgs, ms };
}

function tableOf(database: string, results: readonly Result[]): Table {
  const cell = ({ p50, p95 }: { p50: number; p95: number }) => `${figure(p50)} / ${figure(p95)}`;
  return {
    title: `Time of a recall, p50 / p95 in ms, ${database}`,
    columns: ["facts", "without query", "with query", ...STAGES.slice(2)],
    rows: results.map(({ facts, orgs, ms }) => [
      `${count(facts)} in ${orgs === 1 ? "one org" : `${count(orgs)} orgs`}`,
      ...STAGES.map((stage) => cell(ms[stage])),
    ]),
    notes: [
      "Goals: p95 below 50 ms without a query, below 100 ms with one. The last four columns are parts of a recall with a query;",
      "assembly is what is left of it: reading the rows, folding their keys, the block.",
    ],
  };
}
