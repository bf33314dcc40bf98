import { loadavg } from "node:os";
import type { Principal } from "../src/access/principal.ts";
import { Candidates } from "../src/recall/candidates.ts";
import { Recall } from "../src/recall/query.ts";
import { RecallRepository } from "../src/recall/repository.ts";
import { RecallService } from "../src/recall/service.ts";
import { ProcessorTime } from "./processor-time.ts";
import type { Services } from "./services.ts";
import { median, quantile } from "./statistics.ts";
import { question, type VocabularyWord } from "./vocabulary.ts";

const ROUNDS = 100;
const WARM_UP = 10;

/** The two ways to recall, and where the time of the second goes. */
export const STAGES = ["list", "query", "embedding", "lexical", "vector", "assembly"] as const;
type Stage = (typeof STAGES)[number];

const NO_TIMES: Readonly<Record<Stage, number>> = {
  list: 0,
  query: 0,
  embedding: 0,
  lexical: 0,
  vector: 0,
  assembly: 0,
};

const AGENT = "atlas";
const NARROWING = {
  agents: [AGENT],
  archived: false,
  filtered: { facts: false, messages: false },
};

type Times = Readonly<Record<Stage, { readonly p50: number; readonly p95: number }>>;

export interface Pass {
  /** As the clock has it. */
  readonly ms: Times;
  /**
   * The processors' time for the same: what the clock would have, nearly, on a machine with two of them to spare. A recall
   * with a query is the sum of its stages here, of embedding and words the longer one.
   */
  readonly cpuMs: Times;
  /** Of the machine over the last minute, when it ended. */
  readonly load: number;
}

/** Recalls for one org after the other, so that no cache is warmer than a server's, and times each way and each stage. */
export async function pass(
  services: Services,
  owners: readonly Principal[],
  words: readonly VocabularyWord[],
  signal: AbortSignal,
): Promise<Pass> {
  const { recall, retrieval, database } = services;
  const rounds: { readonly ms: Record<Stage, number>; readonly cpuMs: Record<Stage, number> }[] =
    [];
  let processors = await ProcessorTime.of(services);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    signal.throwIfAborted();
    // What connects while it warms up stays.
    if (round === 0) processors = await ProcessorTime.of(services);
    const owner = owners[Math.abs(round * 7919) % owners.length] as Principal;
    const query = question(Math.abs(round), words);
    const ms = { ...NO_TIMES };
    const cpuMs = { ...NO_TIMES };
    const take = async <T>(stage: Stage, work: () => Promise<T>): Promise<T> => {
      const worked = processors.start(stage === "embedding" ? "process" : "database");
      const started = performance.now();
      const result = await work();
      ms[stage] = performance.now() - started;
      cpuMs[stage] = worked();
      return result;
    };
    await take("list", () => recall.recall(owner, Recall.parse({})));
    await take("query", () => recall.recall(owner, Recall.parse({ query })));
    const scope = { name: "org", orgId: owner.orgId } as const;
    const vector = await take("embedding", () => retrieval.vectorOf(query));
    const byWords = await take("lexical", () =>
      database.transactions.tenant(owner, (tx) => retrieval.byWords([scope], query, NARROWING, tx)),
    );
    const found = await take("vector", () => retrieval.byMeaningToo(byWords, vector));
    const rest = recallOf(services, {
      vectorOf: async () => vector,
      byWords: async () => byWords,
      byMeaningToo: async () => found,
    });
    await take("assembly", () => rest.recall(owner, Recall.parse({ query })));
    const { embedding, lexical } = cpuMs;
    cpuMs.query = Math.max(embedding, lexical) + cpuMs.vector + cpuMs.assembly;
    if (round >= 0) rounds.push({ ms, cpuMs });
  }
  return {
    ms: timesOf(rounds.map(({ ms }) => ms)),
    cpuMs: timesOf(rounds.map(({ cpuMs }) => cpuMs)),
    load: loadavg()[0] ?? 0,
  };
}

function timesOf(rounds: readonly Record<Stage, number>[]): Times {
  return Object.fromEntries(
    STAGES.map((stage) => {
      const times = rounds.map((round) => round[stage]);
      return [stage, { p50: median(times), p95: quantile(times, 0.95) }];
    }),
  ) as Times;
}

/** The product's recall, with searches that were made before. */
function recallOf(
  { facts, users, orgs, database: { transactions } }: Services,
  retrieval: ConstructorParameters<typeof RecallService>[0]["retrieval"],
): RecallService {
  const recalls = new RecallRepository();
  const candidates = new Candidates(recalls, facts);
  const clock = () => new Date();
  return new RecallService({
    ...{ retrieval, candidates, recalls, users, orgs, transactions, clock },
    orchestrator: AGENT,
  });
}
