/**
 * Imports a large Telegram export as a user would: `node test/soak/import-run.ts [messages = 100000]`.
 *
 * On the embedded database the command line sends it to a running server; on PostgreSQL it archives by itself beside one.
 * The first import is killed in the middle; then it runs to its end, and once more. Prints times and the peak of memory of
 * each process (of Linux); exits with 1 unless every message is there once and the last one is found.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINES, openHost } from "../../bench/databases.ts";
import { LAST_PERSON, LAST_WORD, writeExport } from "./import-export.ts";

const ROOT = join(import.meta.dirname, "../..");
const KEY = "owner-key-of-the-import-run-0123456789";
const CLI_LIMIT_MB = 300;
const INDEX_WITHIN_MS = 600_000;
/** In the middle of the first import: it has made some batches by then and not all. */
const KILL_AFTER_MS = 8_000;

const messages = Number(process.argv[2] ?? 100_000);
const directory = await mkdtemp(join(tmpdir(), "souvenir-import-"));
const file = join(directory, "result.json");
const faults: string[] = [];

function peakOf(pid: number): number {
  try {
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(peak ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function start(script: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  // As package.json's scripts start them.
  const flags =
    script === "src/main.ts"
      ? ["--max-semi-space-size=4"]
      : ["--max-semi-space-size=1", "--optimize-for-size"];
  const child = spawn(process.execPath, [...flags, script, ...args], {
    cwd: ROOT,
    env: { ...env, EMBEDDER: "none", LOG_LEVEL: "warn", OWNER_KEY: KEY, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const run = { child, output: "", peak: 0 };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      run.output += text;
    });
  }
  return run;
}

async function runImport(env: NodeJS.ProcessEnv, killAfter?: number) {
  const began = performance.now();
  const run = start("src/cli/souvenir.ts", ["import", "telegram", file], env);
  const ended = once(run.child, "close");
  const sampling = setInterval(() => {
    run.peak = Math.max(run.peak, peakOf(run.child.pid ?? 0));
    if (killAfter !== undefined && performance.now() - began > killAfter) run.child.kill("SIGKILL");
  }, 50);
  await ended;
  clearInterval(sampling);
  const count = (what: string) =>
    Number(new RegExp(`(\\d+) ${what}`).exec(run.output)?.[1] ?? Number.NaN);
  return {
    seconds: ((performance.now() - began) / 1000).toFixed(1),
    peak: run.peak,
    fresh: count("new\n"),
    there: count("already there"),
    output: run.output,
  };
}

async function isFound(url: string): Promise<boolean> {
  const args = { userId: `telegram:${LAST_PERSON}`, query: LAST_WORD };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${KEY}`,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "recall", arguments: args },
    }),
  });
  return (await response.text()).includes(`😀 ${LAST_WORD}`);
}

try {
  await writeExport(file, messages);
  const size = ((await stat(file)).size / 1_000_000).toFixed(1);
  process.stdout.write(`${messages} messages, ${size} MB\n`);
  for (const engine of ENGINES) {
    const host = await openHost(engine);
    try {
      const env = { PATH: process.env.PATH, ...(await host.create()) };
      const server = start("src/main.ts", [], env);
      const closed = once(server.child, "close");
      while (!/is ready at/.test(server.output) && server.child.exitCode === null) await sleep(50);
      const url = /is ready at (http:\S+)/.exec(server.output)?.[1] ?? "";
      const killed = await runImport(env, KILL_AFTER_MS);
      const rest = await runImport(env);
      const again = await runImport(env);
      const began = performance.now();
      let found = false;
      while (!found && performance.now() - began < INDEX_WITHIN_MS) {
        found = await isFound(url);
        if (!found) await sleep(1000);
      }
      const waited = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(
        [
          host.description,
          `  killed after ${killed.seconds} s (peak ${killed.peak} MB), ${rest.there} messages were there`,
          `  the rest: ${rest.seconds} s, ${rest.fresh} new, peak ${rest.peak} MB`,
          `  again: ${again.seconds} s, ${again.fresh} new, peak ${again.peak} MB`,
          `  server: peak ${peakOf(server.child.pid ?? 0)} MB; last message found ${waited} s after`,
          "",
        ].join("\n"),
      );
      if (rest.fresh + rest.there !== messages)
        faults.push(`${engine}: not every message: ${rest.output}`);
      if (again.fresh !== 0 || again.there !== messages)
        faults.push(`${engine}: not the same twice: ${again.output}`);
      if (!found) faults.push(`${engine}: the last message is not found`);
      if (Math.max(rest.peak, again.peak) > CLI_LIMIT_MB)
        faults.push(`${engine}: the command line takes more than ${CLI_LIMIT_MB} MB`);
      server.child.kill("SIGTERM");
      await closed;
    } finally {
      await host.close();
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);

process.exitCode = faults.length === 0 ? 0 : 1;
