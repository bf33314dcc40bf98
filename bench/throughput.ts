import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { casesOf } from "./calls.ts";
import { type DatabaseHost, type Engine, openHost } from "./databases.ts";
import { type LargestContext, largestTable, measureLargest } from "./largest-person.ts";
import type { Load } from "./load.ts";
import { populate } from "./population.ts";
import { loadInRounds, medianOf, ROUNDS } from "./rounds.ts";
import { ServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";
import { figure, type Table } from "./table.ts";

const ROWS = 1_000_000;
const SECONDS = 10;
const CONNECTIONS = 16;

interface Line extends Load {
  readonly name: string;
  /** This call's figure divided by that of the other call in the same round. */
  readonly toEcho: Ratios;
  readonly toNoop: Ratios;
}

interface Ratios {
  readonly requestsPerSecond: number;
  readonly cpuMicros: number;
}

interface Result {
  readonly engine: Engine;
  readonly database: string;
  readonly lines: readonly Line[];
  readonly largest: readonly LargestContext[];
}

/** What the memory tools cost beside a tool that does nothing on the same mount and a bare Fastify route. */
export const throughput: Benchmark = async (options) => {
  const databases: string[] = [];
  const results: Result[] = [];
  for (const engine of options.engines) {
    const host = await openHost(engine);
    try {
      databases.push(host.description);
      results.push({ engine, database: host.name, ...(await measure(host, options)) });
    } finally {
      await host.close();
    }
  }
  return {
    databases,
    tables: results.flatMap(({ database, lines, largest }) => [
      tableOf(database, lines),
      largestTable(database, largest),
    ]),
    json: { benchmark: "throughput", connections: CONNECTIONS, rounds: ROUNDS, results },
  };
};

async function measure(host: DatabaseHost, options: BenchmarkOptions) {
  const { say, signal, rows: [messages = ROWS] = [], seconds = SECONDS } = options;
  const env = await host.create();
  say(`${host.name}: filling`);
  const key = await populate(env, messages, options);
  const server = await ServerProcess.start(env);
  try {
    say(`${host.name}: calling the tools`);
    const shape = { connections: CONNECTIONS, seconds, signal };
    const rounds = await loadInRounds(server, casesOf(server, key), shape);
    say(`${host.name}: reading the context of the largest person`);
    const largest = await measureLargest(server, key, { messages, seconds, signal });
    return { lines: linesOf(rounds), largest };
  } finally {
    await server.stop();
  }
}

function linesOf(all: ReadonlyMap<string, readonly Load[]>): Line[] {
  const [echo = [], noop = []] = all.values();
  return [...all].map(([name, rounds]) => ({
    name,
    ...medianOf(rounds),
    toEcho: ratiosOf(rounds, echo),
    toNoop: ratiosOf(rounds, noop),
  }));
}

/** Within a round both had the same machine, so its noise goes out of the ratio. */
function ratiosOf(rounds: readonly Load[], others: readonly Load[]): Ratios {
  const ratio = (figureOf: (round: Load) => number) => {
    const theirs = others.map(figureOf);
    return median(rounds.map((round, i) => figureOf(round) / (theirs[i] ?? Number.NaN)));
  };
  return {
    requestsPerSecond: ratio((round) => round.requestsPerSecond),
    cpuMicros: ratio((round) => round.cpuMicros),
  };
}

function tableOf(database: string, lines: readonly Line[]): Table {
  const columns = ["call", "requests/s", "to echo", "to noop", "p50 ms", "p99 ms"];
  return {
    title: `Tool calls over HTTP from ${CONNECTIONS} connections, on ${database}`,
    columns: [...columns, "CPU µs/request", "to echo", "to noop"],
    rows: lines.map(({ name, toEcho, toNoop, ...line }) => [
      name,
      figure(line.requestsPerSecond),
      `${figure(toEcho.requestsPerSecond)}×`,
      `${figure(toNoop.requestsPerSecond)}×`,
      figure(line.p50),
      figure(line.p99),
      figure(line.cpuMicros),
      `${figure(toEcho.cpuMicros)}×`,
      `${figure(toNoop.cpuMicros)}×`,
    ]),
    notes: [
      `Medians of ${ROUNDS} interleaved rounds; the load generator shares the machine. noop is a tool that does nothing on the`,
      "same mount: API key looked up in the database, JSON-RPC, schemas, log line. CPU is of the server's process: with",
      "PGlite that includes the database, with PostgreSQL it does not.",
    ],
  };
}
