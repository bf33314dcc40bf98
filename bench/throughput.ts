import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type Case, casesOf } from "./calls.ts";
import { type DatabaseHost, type Engine, openHost } from "./databases.ts";
import { type LargestContext, largestTable, measureLargest } from "./largest-person.ts";
import { load } from "./load.ts";
import { populate } from "./population.ts";
import { ServerProcess } from "./server-process.ts";
import { median, quantile, rotated } from "./statistics.ts";
import { figure, type Table } from "./table.ts";

const ROWS = 1_000_000;
const SECONDS = 10;
/** Each case has its turn in each round: what disturbs the machine for a while disturbs all of them. */
const ROUNDS = 5;
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 1;

interface Round {
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU microseconds of the server's process for each request. */
  readonly cpuMicros: number;
}

interface Line extends Round {
  readonly name: string;
  /** CPU against the other two, of the same round. */
  readonly cpuToEcho: number;
  readonly cpuToNoop: number;
}

interface Result {
  readonly engine: Engine;
  readonly database: string;
  readonly lines: readonly Line[];
  readonly largest: readonly LargestContext[];
}

/** What the memory tools cost beside a tool that does nothing on the same mount and a bare Fastify route. */
export const throughput: Benchmark = async (options) => {
  const results: Result[] = [];
  for (const engine of options.engines) {
    const host = await openHost(engine);
    try {
      results.push({ engine, database: host.description, ...(await measure(host, options)) });
    } finally {
      await host.close();
    }
  }
  return {
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
  say(`${host.description}: filling`);
  const key = await populate(env, messages, options);
  const server = await ServerProcess.start(env);
  try {
    const cases = casesOf(server, key);
    const rounds = new Map<string, Round[]>(cases.map(({ name }) => [name, []]));
    say(`${host.description}: warming up`);
    for (const { target } of cases) {
      await load(target, { connections: CONNECTIONS, seconds: Math.min(WARM_UP_SECONDS, seconds) });
    }
    for (let round = 0; round < ROUNDS; round++) {
      say(`${host.description}: round ${round + 1} of ${ROUNDS}`);
      for (const one of rotated(cases, round)) {
        signal.throwIfAborted();
        rounds.get(one.name)?.push(await measureOnce(server, one, seconds / ROUNDS));
      }
    }
    say(`${host.description}: the context of the largest person`);
    return {
      lines: linesOf(rounds),
      largest: await measureLargest(server, key, { messages, seconds }),
    };
  } finally {
    await server.stop();
  }
}

async function measureOnce(server: ServerProcess, one: Case, seconds: number): Promise<Round> {
  const before = await server.cpuMicros();
  const { requestsPerSecond, latencies } = await load(one.target, {
    connections: CONNECTIONS,
    seconds,
  });
  const cpu = (await server.cpuMicros()) - before;
  return {
    requestsPerSecond,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMicros: cpu / latencies.length,
  };
}

function linesOf(all: ReadonlyMap<string, readonly Round[]>): Line[] {
  const [echo = [], noop = []] = [...all.values()];
  return [...all].map(([name, rounds]) => {
    const middle = (value: (round: Round, index: number) => number) => median(rounds.map(value));
    return {
      name,
      requestsPerSecond: middle((round) => round.requestsPerSecond),
      p50: middle((round) => round.p50),
      p99: middle((round) => round.p99),
      cpuMicros: middle((round) => round.cpuMicros),
      cpuToEcho: middle((round, i) => round.cpuMicros / (echo[i]?.cpuMicros ?? Number.NaN)),
      cpuToNoop: middle((round, i) => round.cpuMicros / (noop[i]?.cpuMicros ?? Number.NaN)),
    };
  });
}

function tableOf(database: string, lines: readonly Line[]): Table {
  return {
    title: `Tool calls over HTTP from ${CONNECTIONS} connections, on ${database}`,
    columns: [
      "call",
      "requests/s",
      "p50 ms",
      "p99 ms",
      "CPU µs/request",
      "CPU to echo",
      "CPU to noop",
    ],
    rows: lines.map((line) => [
      line.name,
      figure(line.requestsPerSecond),
      figure(line.p50),
      figure(line.p99),
      figure(line.cpuMicros),
      `${figure(line.cpuToEcho)}×`,
      `${figure(line.cpuToNoop)}×`,
    ]),
    notes: [
      `Medians of ${ROUNDS} interleaved rounds; the load generator shares the machine. noop is a tool that does nothing on the`,
      "same mount: API key looked up in the database, JSON-RPC, schemas, log line. CPU is of the server's process: with",
      "PGlite that includes the database, with PostgreSQL it does not.",
    ],
  };
}
