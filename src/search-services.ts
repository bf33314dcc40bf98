import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/client.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { DuplicateFinder } from "./facts/duplicate-finder.ts";
import { DuplicateRepository } from "./facts/duplicate-repository.ts";
import type { JobHandler } from "./jobs/handler.ts";
import type { JobQueue } from "./jobs/queue.ts";
import { Embedding, embedJob } from "./search/embedding.ts";
import { EmbeddingRepository } from "./search/embedding-repository.ts";
import { indexJob } from "./search/jobs.ts";
import { MatchRepository } from "./search/match-repository.ts";
import { Meaning } from "./search/meaning.ts";
import { SearchMessageRepository } from "./search/message-repository.ts";
import { SearchRepository } from "./search/repository.ts";
import { SearchIndex } from "./search/service.ts";
import { HnswIndexes } from "./vectors/hnsw.ts";
import type { VectorIndex } from "./vectors/index.ts";
import { vectorDeletionsJob, vectorIndexesJob } from "./vectors/jobs.ts";
import { PostgresVectorIndex } from "./vectors/postgres.ts";

type EmbedderConfig = Pick<
  Config,
  "EMBEDDER" | "EMBEDDING_MODEL" | "EMBEDDING_DIMENSIONS" | "OPENAI_API_KEY" | "OPENAI_BASE_URL"
>;

/** The embedder that the configuration names; undefined for `none`. Loads nothing yet. */
export async function embedderOf(config: EmbedderConfig): Promise<Embedder | undefined> {
  switch (config.EMBEDDER) {
    case "none":
      return undefined;
    case "local": {
      const { LocalEmbedder } = await import("./embeddings/local.ts");
      return new LocalEmbedder();
    }
    case "openai": {
      const { openAiEmbedder } = await import("./embeddings/openai.ts");
      return openAiEmbedder({
        apiKey: config.OPENAI_API_KEY,
        baseUrl: config.OPENAI_BASE_URL,
        model: config.EMBEDDING_MODEL,
        dimensions: config.EMBEDDING_DIMENSIONS,
      });
    }
  }
}

interface SearchDependencies {
  readonly config: Config;
  /** Undefined: texts are searched by their words alone. */
  readonly embedder: Embedder | undefined;
  readonly database: Database;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly metrics: { waitingForVectors(documents: number): void };
  readonly onNotice: (notice: string, error?: unknown) => void;
}

/** What searches, by words and by meaning, and the jobs that keep it. */
export async function buildSearch(deps: SearchDependencies) {
  const { embedder, database } = deps;
  const { transactions } = database;
  const meaning = embedder && (await buildMeaning({ ...deps, embedder }));
  const messages = new SearchMessageRepository();
  const index = new SearchIndex({
    documents: new SearchRepository(),
    messages,
    matches: new MatchRepository(),
    onWaiting: meaning && ((org, tx) => meaning.search.requestVectors(org, tx)),
  });
  return {
    index,
    meaning: meaning?.search,
    embedding: meaning?.embedding,
    handlers: [indexJob(index, messages, transactions), ...(meaning?.handlers ?? [])],
  };
}

async function buildMeaning({
  config,
  embedder,
  database,
  queue,
  clock,
  metrics,
  onNotice,
}: SearchDependencies & { readonly embedder: Embedder }) {
  const { transactions } = database;
  const { index, handlers } = await vectorsOf(config, database);
  const models = new EmbeddingRepository();
  const shared = { embedder, index, models, transactions, clock };
  const search = new Meaning({ ...shared, queue, onNotice });
  const finder = new DuplicateFinder({
    ...{ duplicates: new DuplicateRepository(), index, transactions, clock },
  });
  const embedding = new Embedding({
    ...{ ...shared, meaning: search, metrics },
    onEmbedded: (scope, embedded, model, signal) => finder.look(scope, embedded, model, signal),
  });
  return { search, embedding, handlers: [embedJob(embedding), ...handlers] };
}

async function vectorsOf(
  config: Config,
  database: Database,
): Promise<{ index: VectorIndex; handlers: JobHandler[] }> {
  const { transactions } = database;
  const { UPSTASH_VECTOR_REST_URL: url, UPSTASH_VECTOR_REST_TOKEN: token } = config;
  if (config.VECTOR_INDEX === "postgres" || url === undefined || token === undefined) {
    return {
      index: new PostgresVectorIndex(database),
      handlers: [vectorIndexesJob(new HnswIndexes(database))],
    };
  }
  const { UpstashClient } = await import("./vectors/upstash-client.ts");
  const { UpstashDeletions } = await import("./vectors/upstash-deletions.ts");
  const { UpstashVectorIndex } = await import("./vectors/upstash.ts");
  const client = new UpstashClient({ url, token });
  return {
    index: new UpstashVectorIndex(client, transactions),
    handlers: [vectorDeletionsJob(new UpstashDeletions(client, transactions))],
  };
}
