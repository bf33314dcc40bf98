import { parseArgs } from "node:util";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { ENGINES, type Engine } from "./databases.ts";
import { describeMachine, thisMachine } from "./machine.ts";
import { renderTable } from "./table.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  throughput: async () => (await import("./throughput.ts")).throughput,
  history: async () => (await import("./history.ts")).history,
  consolidate: async () => (await import("./consolidate.ts")).consolidate,
  memory: async () => (await import("./memory.ts")).memory,
  lifecycle: async () => (await import("./lifecycle.ts")).lifecycle,
  recall: async () => (await import("./recall.ts")).recall,
  latency: async () => (await import("./latency.ts")).latency,
  forwarding: async () => (await import("./forwarding.ts")).forwarding,
  screens: async () => (await import("./screens.ts")).screensBenchmark,
  duplicates: async () => (await import("./duplicates.ts")).duplicates,
};

const USAGE = `npm run bench -- <name> [--db pglite|postgres] [--json] [--rows 10000,1000000] [--seconds 5]

  throughput  requests/s, latency and CPU of the memory tools beside a tool that does nothing and a bare Fastify echo
  history     latency of a page of chat history as one person's history grows
  consolidate time to consolidate 1,000 changed facts among many
  recall      which evidence is found for a question, by words, by vectors and by both, and in 1,400 tokens
  forwarding  time to find whom to forward for next, as more wait
  duplicates  which pairs of values would be merged as the same, and which should not have been
  latency     time of a recall at scale, by stage
  screens     time of each screen of the memory page over a large org
  memory      megabytes of the server's process, with and without the model that embeds
  lifecycle   which value of a changing attribute is recalled, over scripts of confirmations and contradictions

  --db       one database only; without it both are measured. PostgreSQL is the server that DATABASE_URL or
             TEST_DATABASE_URL names (as a superuser; in databases made for the run), else one started for the run
  --json     one JSON object as the last line
  --rows     messages of one person, of each history or of the largest person; facts among which 1,000 change
  --seconds  time of measuring for each line of the table`;

class UsageError extends Error {}

interface Invocation {
  readonly load: () => Promise<Benchmark>;
  readonly json: boolean;
  readonly options: Omit<BenchmarkOptions, "say" | "signal">;
}

function readInvocation(args: string[]): Invocation {
  const { values, positionals } = parse(args);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("name one benchmark");
  const load = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (load === undefined) {
    throw new UsageError(
      `unknown benchmark "${name}": there are ${Object.keys(BENCHMARKS).join(" and ")}`,
    );
  }
  return {
    load,
    json: values.json,
    options: {
      engines: values.db === undefined ? ENGINES : [engineOf(values.db)],
      rows: values.rows?.split(",").map((rows) => positive("--rows", rows, Number.isSafeInteger)),
      seconds:
        values.seconds === undefined
          ? undefined
          : positive("--seconds", values.seconds, Number.isFinite),
    },
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        db: { type: "string" },
        json: { type: "boolean", default: false },
        rows: { type: "string" },
        seconds: { type: "string" },
      },
    });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function engineOf(db: string): Engine {
  const engine = ENGINES.find((known) => known === db);
  if (engine === undefined) throw new UsageError(`--db takes ${ENGINES.join(" or ")}, not "${db}"`);
  return engine;
}

function positive(flag: string, text: string, accepts: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() === "" || !accepts(value) || value <= 0) {
    throw new UsageError(`${flag} takes numbers above 0, not "${text}"`);
  }
  return value;
}

async function main(args: string[]): Promise<void> {
  const { load, json, options } = readInvocation(args);
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupt.abort(new Error("interrupted")));
  }
  const run = await load();
  const machine = thisMachine();
  const date = new Date().toISOString();
  const report = await run({
    ...options,
    say: (line) => process.stderr.write(`${line}\n`),
    signal: interrupt.signal,
  });
  console.log(
    [`${date.slice(0, 10)}, ${describeMachine(machine)}`, ...report.databases, ""].join("\n"),
  );
  for (const table of report.tables) console.log(`${renderTable(table)}\n`);
  const { databases } = report;
  if (json) console.log(JSON.stringify({ ...report.json, date, machine, databases }, rounded));
}

/** Microseconds are the last digits that a figure in milliseconds has. */
function rounded(_name: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${USAGE}`);
  else console.error(error);
  // Not exitCode: a database that did not close must not keep a failed run alive.
  process.exit(1);
}
