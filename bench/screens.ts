import { buildApp } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { LocalEmbedder } from "../src/embeddings/local.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type DatabaseHost, openHost } from "./databases.ts";
import { seedFacts } from "./latency-seed.ts";
import { type Seeded, seedScreens } from "./screens-seed.ts";
import { settle } from "./seed.ts";
import { openServices } from "./services.ts";
import { quantile } from "./statistics.ts";
import { count, figure, type Table } from "./table.ts";
import { CachedEmbedder } from "./vector-cache.ts";
import { question, type VocabularyWord, vocabulary } from "./vocabulary.ts";

const FACTS = 100_000;
const MESSAGES = 1_000_000;
const CALLS = 20;
/** The plan of a statement and the code of a page are made at first. */
const WARM_UPS = 3;
/** Milliseconds in which every screen is to answer. */
const PROMISED_MS = 200;
const KEY = "owner-key-of-the-screens-benchmark-0123456789";
const HOST = "localhost";

type Address = string | ((seeded: Seeded, n: number) => string);

/** Every screen of the page, as its links lead there. */
function screens(words: readonly VocabularyWord[]): readonly (readonly [string, Address])[] {
  const word = (n: number) => encodeURIComponent(words[(n * 97) % words.length]?.word ?? "");
  return [
    ["overview", "/ui"],
    ["facts of the org", "/ui/facts?scope=org"],
    ["all facts of the org", "/ui/facts?scope=org&all=1"],
    ["facts that have a word", (_, n) => `/ui/facts?scope=org&search=${word(n)}`],
    ["one fact", ({ factId }) => `/ui/facts/${factId}`],
    ["inbox", "/ui/inbox"],
    ["duplicates", "/ui/duplicates"],
    ["watch", "/ui/watch"],
    ["people", "/ui/people"],
    ["one person", ({ userId }) => `/ui/people/${userId}`],
    ["chat", ({ userId }) => `/ui/chat?userId=${userId}`],
    ["chat that has a word", ({ userId }, n) => `/ui/chat?userId=${userId}&search=${word(n)}`],
    ["one message", ({ messageId }) => `/ui/chat/${messageId}`],
    ["what the agent sees", ({ userId }) => `/ui/preview?userId=${userId}`],
    [
      "what it sees for a query",
      ({ userId }, n) =>
        `/ui/preview?userId=${userId}&query=${encodeURIComponent(question(n, words))}`,
    ],
    ["rules", "/ui/rules"],
    ["A/B", "/ui/comparison"],
    ["jobs", "/ui/jobs"],
    ["dead letters", "/ui/dead-letters"],
    ["keys", "/ui/keys"],
    ["audit", "/ui/audit"],
    ["export and erase", "/ui/data"],
    ["erasures", "/ui/erasures"],
  ];
}

interface Line {
  readonly screen: string;
  readonly bytes: number;
  readonly p50: number;
  readonly p95: number;
}

/** How long the server takes for each screen of the page over a large org, in one process and one call at a time. */
export const screensBenchmark: Benchmark = async (options) => {
  const words = await readVocabulary(options);
  const databases: string[] = [];
  const tables: Table[] = [];
  const json: Record<string, readonly Line[]> = {};
  for (const engine of options.engines) {
    const host = await openHost(engine);
    try {
      databases.push(host.description);
      const lines = await measure(host, words, options);
      json[engine] = lines;
      tables.push(tableOf(host.name, options.rows?.[0] ?? MESSAGES, lines));
    } finally {
      await host.close();
    }
  }
  return {
    databases,
    tables,
    json: { benchmark: "screens", promisedMs: PROMISED_MS, databases: json },
  };
};

async function readVocabulary({ say }: BenchmarkOptions): Promise<VocabularyWord[]> {
  const embedder = new LocalEmbedder();
  try {
    return await vocabulary(new CachedEmbedder(embedder), say);
  } finally {
    await embedder.close();
  }
}

async function measure(
  host: DatabaseHost,
  words: readonly VocabularyWord[],
  options: BenchmarkOptions,
): Promise<Line[]> {
  const { say, signal, rows: [messages = MESSAGES] = [] } = options;
  const env = await host.create();
  say(`${host.name}: filling`);
  const { seeded, slug } = await fill(env, messages, words, options);
  const config = readConfig({
    ...env,
    DEFAULT_ORG: slug,
    OWNER_KEY: KEY,
    LOG_LEVEL: "silent",
    RATE_LIMIT_PER_MINUTE: "0",
  });
  const app = await buildApp(config, { background: false });
  try {
    await app.start({
      ready: () => {},
      failed: (error) => {
        throw error;
      },
    });
    const signIn = await app.http.inject({
      method: "POST",
      url: "/ui/sign-in",
      headers: {
        host: HOST,
        origin: `http://${HOST}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      payload: new URLSearchParams({ key: KEY }).toString(),
    });
    const cookie = String(signIn.headers["set-cookie"]).split(";")[0] ?? "";
    const lines: Line[] = [];
    for (const [screen, address] of screens(words)) {
      const samples: number[] = [];
      let bytes = 0;
      for (let n = 0; n < WARM_UPS + CALLS; n++) {
        signal.throwIfAborted();
        const url = typeof address === "string" ? address : address(seeded, n);
        const began = performance.now();
        const answer = await app.http.inject({
          method: "GET",
          url,
          headers: { host: HOST, cookie },
        });
        if (n >= WARM_UPS) samples.push(performance.now() - began);
        if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
        bytes = answer.rawPayload.length;
      }
      lines.push({ screen, bytes, p50: quantile(samples, 0.5), p95: quantile(samples, 0.95) });
      say(`  ${screen}: ${figure(lines.at(-1)?.p95 ?? 0)} ms`);
    }
    return lines;
  } finally {
    await app.close();
  }
}

async function fill(
  env: Awaited<ReturnType<DatabaseHost["create"]>>,
  messages: number,
  words: readonly VocabularyWord[],
  options: BenchmarkOptions,
) {
  const embedder = new LocalEmbedder();
  const services = await openServices(env, undefined, embedder);
  try {
    if (!services.meaning) throw new Error("there is no embedder");
    const { id } = await services.meaning.model();
    const [owner] = await seedFacts(services, { orgs: 1, factsPerOrg: FACTS }, id, words, options);
    if (!owner) throw new Error("there is no org");
    const seeded = await seedScreens(services, owner, messages, words, options);
    options.say("  indexes, counts and statistics");
    for (const kind of ["vectors.index", "overview.count"]) {
      for (const handler of services.handlers.filter((one) => one.kind === kind)) {
        await handler.run({ id: "", kind, orgId: null, payload: "{}", attempts: 1 }, options);
      }
    }
    await settle(services);
    return { seeded, slug: "latency-1-0" };
  } finally {
    await services.database.close();
    await embedder.close();
  }
}

function tableOf(database: string, messages: number, lines: readonly Line[]): Table {
  const slow = lines.filter(({ p95 }) => p95 >= PROMISED_MS).map(({ screen }) => screen);
  return {
    title: `Time of each screen over ${count(FACTS)} facts and ${count(messages)} messages of one org, ${database}`,
    columns: ["screen", "kB", "p50 ms", "p95 ms"],
    rows: lines.map(({ screen, bytes, p50, p95 }) => [
      screen,
      figure(bytes / 1000),
      figure(p50),
      figure(p95),
    ]),
    notes: [
      `Within ${PROMISED_MS} ms: ${slow.length === 0 ? "all" : `not ${slow.join(", ")}`}. The server is asked in this process, with its database, one call at a time.`,
    ],
  };
}
