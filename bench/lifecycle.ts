import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Principal } from "../src/access/principal.ts";
import { Remember } from "../src/facts/remember.ts";
import { Recall } from "../src/recall/query.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { openHost } from "./databases.ts";
import { type Chain, SCRIPTS, type Script } from "./lifecycle-scripts.ts";
import { seedOwner } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import { figure, type Table } from "./table.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const TOP = 5;

/** Shares of chains; null where a script does not ask. */
interface Check {
  readonly n: number;
  /** The right value is the first of its attribute. */
  readonly top: number;
  /** A value that was replaced is among the first five. */
  readonly stale: number | null;
  /** Every value that may be true is among the first five. */
  readonly kept: number | null;
  /** Of the first five, the share that repeats another. */
  readonly duplicates: number;
}

interface Seen {
  readonly top: boolean;
  readonly stale: boolean | null;
  readonly kept: boolean | null;
  readonly duplicates: number;
}

/**
 * Which value of an attribute is recalled as it changes, through the real services: every chain of one person lives
 * beside the person's others. Data: BENCH_DATA, default ../shared/bench/data.
 */
export const lifecycle: Benchmark = async (options) => {
  const chains = readChains();
  const databases: string[] = [];
  const tables: Table[] = [];
  const results: Record<string, unknown> = {};
  for (const engine of options.engines) {
    const host = await openHost(engine);
    let now = START;
    const services = await openServices(await host.create(), () => new Date(now));
    try {
      databases.push(host.description);
      const owner = await seedOwner(services);
      const setNow = (at: number) => {
        now = at;
      };
      const scripts: Record<string, Record<string, Check>> = {};
      for (const script of SCRIPTS) {
        options.say(`${host.name}: ${script.name}`);
        scripts[script.name] = await run(services, owner, script, chains, setNow, options);
      }
      results[engine] = scripts;
      tables.push(tableOf(host.name, scripts));
    } finally {
      await services.database.close();
      await host.close();
    }
  }
  const [first] = Object.values(results);
  return {
    databases,
    tables,
    json: { benchmark: "lifecycle", scripts: first, databases: results },
  };
};

function readChains(): Chain[] {
  const folder = resolve(
    process.env.BENCH_DATA ?? join(import.meta.dirname, "../../shared/bench/data"),
  );
  const file = join(folder, "lifecycle", "chains.jsonl");
  if (!existsSync(file)) {
    throw new Error(
      `the set "lifecycle" was not found in ${folder}: set BENCH_DATA to the benchmark data`,
    );
  }
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Chain);
}

async function run(
  services: Services,
  owner: Principal,
  script: Script,
  chains: readonly Chain[],
  setNow: (at: number) => void,
  options: BenchmarkOptions,
): Promise<Record<string, Check>> {
  const seen = new Map<string, Seen[]>();
  for (const [person, theirs] of Map.groupBy(chains, ({ user }) => user)) {
    options.signal.throwIfAborted();
    const userId = `bench:${script.name}/${person}`;
    const steps = theirs
      .flatMap((chain) => {
        const plan = script.plan(chain.values.map(({ v }) => v));
        if (!plan) return [];
        return [
          ...plan.says.map((say) => ({ day: say.day, chain, say, check: undefined })),
          ...plan.checks.map((check) => ({ day: check.day, chain, say: undefined, check })),
        ];
      })
      .sort((a, b) => a.day - b.day);
    for (const [at, { day, chain, say, check }] of steps.entries()) {
      setNow(START + day * DAY_MS);
      if (say) {
        await services.facts.remember(
          owner,
          Remember.parse({
            scope: "user",
            userId,
            key: keyOf(chain),
            value: say.value,
            sourceMessageId: `${chain.id}#${at}`,
          }),
        );
        continue;
      }
      await services.consolidation.run();
      const asked = { userId, scopes: ["user"], query: chain.query, limit: TOP };
      const recall = Recall.parse(check?.byKey ? { ...asked, keyPrefix: keyOf(chain) } : asked);
      const { facts } = await services.recall.recall(owner, recall);
      const values = facts.map(({ value }) => value as string);
      const own = new Set(chain.values.map(({ v }) => v));
      const first = values.find((value) => own.has(value));
      const list = seen.get(check.name) ?? [];
      list.push({
        top: first !== undefined && check.top.includes(first),
        stale: check.stale ? values.some((value) => check.stale?.includes(value)) : null,
        kept: check.kept ? check.kept.every((value) => values.includes(value)) : null,
        duplicates: values.length > 0 ? 1 - new Set(values).size / values.length : 0,
      });
      seen.set(check.name, list);
    }
  }
  return Object.fromEntries([...seen].map(([name, list]) => [name, checkOf(list)]));
}

function keyOf({ key }: Chain): string {
  return key.toLowerCase().replace(/[^a-z0-9_]+/g, "_");
}

function checkOf(list: readonly Seen[]): Check {
  const share = (of: (one: Seen) => boolean | null) => {
    const asked = list.map(of).filter((value) => value !== null);
    return asked.length === 0 ? null : asked.filter(Boolean).length / asked.length;
  };
  return {
    n: list.length,
    top: share(({ top }) => top) ?? 0,
    stale: share(({ stale }) => stale),
    kept: share(({ kept }) => kept),
    duplicates: list.reduce((sum, { duplicates }) => sum + duplicates, 0) / list.length,
  };
}

function tableOf(database: string, scripts: Record<string, Record<string, Check>>): Table {
  const shown = (value: number | null) => (value === null ? "" : value === 0 ? "0" : figure(value));
  return {
    title: `Which value of a changing attribute is recalled, on ${database}`,
    columns: ["script: check", "chains", "right first", "stale in top 5", "all kept", "duplicates"],
    rows: Object.entries(scripts).flatMap(([script, checks]) =>
      Object.entries(checks).map(([name, check]) => [
        `${script}: ${name}`,
        String(check.n),
        shown(check.top),
        shown(check.stale),
        shown(check.kept),
        shown(check.duplicates),
      ]),
    ),
    notes: [
      "By the question alone two values of every key cannot all be among five facts: 112 of the 238 chains share their",
      "question with another of the same person, which bounds that line at 0.90.",
      "Shares of chains. Every chain of one person lives beside the others; recall is asked the chain's question with a",
      "limit of five facts, right after a consolidation. Values are stated under the chain's key, one source each.",
    ],
  };
}
