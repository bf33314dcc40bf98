import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import manifest from "../package.json" with { type: "json" };
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type DatabaseEnv, type DatabaseHost, openHost } from "./databases.ts";
import { count, type Table } from "./table.ts";

const ROOT = join(import.meta.dirname, "..");
const FACTS = 20;
const RECALLS = 200;
/** For jobs that run after a start or a write: vectors of the facts are made then. */
const SETTLE_MS = 5_000;
const USER = "telegram:5000000001";
const MB = 1024;

const EMBEDDERS = ["none", "local"] as const;

interface Line {
  readonly database: string;
  readonly embedder: (typeof EMBEDDERS)[number];
  /** Megabytes resident: after the restart, after the recalls, and the most that it ever was. */
  readonly started: number;
  readonly used: number;
  readonly peak: number;
}

/** Memory of `npm start` after a restart on a database with facts, with and without the model that embeds them. */
export const memory: Benchmark = async (options) => {
  const databases: string[] = [];
  const lines: Line[] = [];
  for (const engine of options.engines) {
    const host = await openHost(engine);
    try {
      databases.push(host.description);
      for (const embedder of EMBEDDERS) lines.push(await measure(host, embedder, options));
    } finally {
      await host.close();
    }
  }
  return { databases, tables: [tableOf(lines)], json: { benchmark: "memory", lines } };
};

async function measure(
  host: DatabaseHost,
  embedder: Line["embedder"],
  { say, signal }: BenchmarkOptions,
): Promise<Line> {
  say(`${host.name}: EMBEDDER=${embedder}`);
  const env = { ...(await host.create()), EMBEDDER: embedder };
  const key = randomBytes(32).toString("base64url");
  const first = await Server.start(env, key);
  try {
    for (let i = 0; i < FACTS; i++) {
      const fact = { scope: "user", userId: USER, key: `likes.thing_${i}`, confidence: 0.9 };
      await first.call("remember_fact", { ...fact, value: `Ana likes oat milk, number ${i}` });
    }
    await wait(SETTLE_MS, undefined, { signal });
  } finally {
    await first.stop();
  }
  const server = await Server.start(env, key);
  try {
    await wait(SETTLE_MS, undefined, { signal });
    const { VmRSS: started } = await server.memory();
    for (let i = 0; i < RECALLS; i++) {
      signal.throwIfAborted();
      await server.call("recall", { userId: USER, query: `what does Ana drink, number ${i}?` });
    }
    await wait(SETTLE_MS, undefined, { signal });
    const { VmRSS: used, VmHWM: peak } = await server.memory();
    return { database: host.name, embedder, started, used, peak };
  } finally {
    await server.stop();
  }
}

/** What `npm start` runs, without npm, which would be the parent of the process that is looked at. */
class Server {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #key: string;

  private constructor(child: ChildProcess, url: string, key: string) {
    this.#child = child;
    this.#url = url;
    this.#key = key;
  }

  /** An empty variable counts as unset, and keeps that of a `.env` file out. */
  static async start(env: DatabaseEnv & { readonly EMBEDDER: string }, key: string) {
    const child = spawn("sh", ["-c", manifest.scripts.start], {
      cwd: ROOT,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        DATABASE_URL: "",
        DATA_DIR: "",
        HOST: "",
        AUTH: "",
        DEFAULT_ORG: "",
        RATE_LIMIT_PER_MINUTE: "0",
        ...env,
        PORT: "0",
        OWNER_KEY: key,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    for await (const chunk of child.stdout
      .setEncoding("utf8")
      .iterator({ destroyOnReturn: false })) {
      output += chunk;
      const url = /is ready at (http:\S+)/.exec(output)?.[1];
      if (url === undefined) continue;
      child.stdout.resume();
      return new Server(child, url, key);
    }
    throw new Error(`the server ended: ${output}`);
  }

  async call(name: string, args: object): Promise<void> {
    const response = await fetch(`${this.#url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${this.#key}`,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    const text = await response.text();
    if (!response.ok || /"error":|"isError":true/.test(text)) throw new Error(`${name}: ${text}`);
  }

  /** Megabytes, as Linux counts them for the process with all its threads. */
  async memory(): Promise<{ VmRSS: number; VmHWM: number }> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    const kilobytes = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
    return { VmRSS: kilobytes("VmRSS") / MB, VmHWM: kilobytes("VmHWM") / MB };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill();
    await exited;
  }
}

function tableOf(lines: readonly Line[]): Table {
  return {
    title: "Resident memory of the server's process, MB",
    columns: ["database", "EMBEDDER", "after a restart", `after ${RECALLS} recalls`, "peak"],
    rows: lines.map(({ database, embedder, started, used, peak }) => [
      database,
      embedder,
      ...[started, used, peak].map((megabytes) => count(Math.round(megabytes))),
    ]),
    notes: [
      `${FACTS} facts of one person were remembered before the restart; every recall has a query of its own. PGlite's memory is`,
      "part of the process, PostgreSQL's is not. The peak is that of the start, when modules are compiled. Linux only.",
    ],
  };
}
