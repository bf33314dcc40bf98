/**
 * Soak of the embedded database: `node test/soak/embedded-soak.ts [seconds = 600]`.
 *
 * A child process writes, reads, commits and fails transactions while its database worker is killed
 * every few seconds; every minute or so the child itself is killed with SIGKILL. After each kill
 * another process looks for acknowledged writes that are gone, torn transactions, changed rows and
 * damaged indexes. Prints one table; exits with 1 on any violation.
 */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("./embedded-soak-child.ts", import.meta.url));
/** A working set of about 100 MB in a 32 MB buffer pool; twice what was measured is a leak. */
const RSS_LIMIT_MB = 1_500;

const seconds = Number(process.argv[2] ?? 600);
const directory = mkdtempSync(join(tmpdir(), "souvenir-soak-"));
const counts = new Map<string, number>();
const violations: string[] = [];
/** Parts acknowledged by writer and number. */
const acknowledged = new Map<string, number>();
const floors = new Map<string, number>();
const opens: number[] = [];
const states: number[][] = [];

function count(what: string, by = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + by);
}

function hear(line: string): void {
  const [kind = "", first = "", second = "", third = ""] = line.split(" ");
  if (kind === "violation") violations.push(line.slice("violation ".length));
  else if (kind === "ack") acknowledged.set(`${first} ${second}`, Number(third));
  else if (kind === "floor") floors.set(first, Number(second));
  else if (kind === "open") opens.push(Number(first));
  else if (kind === "state") states.push(line.split(" ").slice(1).map(Number));
  count(kind, kind === "read" ? Number(first) : 1);
}

/** Runs the child in a mode; resolves with its exit code when it ended and every line is heard. */
function run(mode: "load" | "check", onLine: (line: string) => void) {
  const child = spawn(process.execPath, [CHILD, mode, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  lines.on("line", onLine);
  const ended = Promise.all([once(child, "exit"), once(lines, "close")]).then(([[code]]) => code);
  return { child, ended };
}

async function load(milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const { child, ended } = run("load", (line) => {
    hear(line);
    // Counted from here: the very first start alone may take longer than a life is meant to.
    if (line.startsWith("open ")) timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
  });
  const code = await ended;
  clearTimeout(timer);
  if (code !== null) violations.push(`the process ended by itself with code ${code}`);
}

async function check(): Promise<void> {
  const kept = new Map<string, number>();
  const { ended } = run("check", (line) => {
    const [kind, writer, n, parts] = line.split(" ");
    if (kind === "kept") kept.set(`${writer} ${n}`, Number(parts));
    else hear(line);
  });
  const code = await ended;
  if (code !== 0) violations.push(`the check ended with code ${code}`);
  for (const [key, parts] of acknowledged) {
    const [writer = "", n = ""] = key.split(" ");
    if (Number(n) <= (floors.get(writer) ?? 0)) acknowledged.delete(key);
    else if (kept.get(key) !== parts) violations.push(`acknowledged write ${key} is gone`);
    else count("acknowledged writes found again");
  }
}

function directorySize(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  return Math.round(bytes / 1e6);
}

const end = performance.now() + seconds * 1_000;
while (performance.now() < end && violations.length === 0) {
  await load(Math.min(randomInt(20_000, 90_000), Math.max(5_000, end - performance.now())));
  await check();
  count("process kills");
  process.stdout.write(
    `${new Date().toISOString()} kills ${counts.get("process kills")}, worker deaths ${counts.get("death")}, acknowledged ${counts.get("ack")}, violations ${violations.length}, MB ${directorySize(directory)}\n`,
  );
}

const column = (index: number) => states.map((state) => state[index] ?? 0);
const highest = (values: number[]) => values.reduce((a, b) => Math.max(a, b), 0);
const mean = (values: number[]) =>
  Math.round(values.reduce((a, b) => a + b, 0) / Math.max(1, values.length));
const rss = column(0);
if (highest(rss) > RSS_LIMIT_MB) violations.push(`resident set grew to ${highest(rss)} MB`);
const table: [string, number | string][] = [
  ["seconds", seconds],
  ["process kills (SIGKILL)", counts.get("process kills") ?? 0],
  ["worker deaths and failed starts", counts.get("death") ?? 0],
  ["acknowledged writes", counts.get("ack") ?? 0],
  [
    "of them found again, summed over all checks",
    counts.get("acknowledged writes found again") ?? 0,
  ],
  ["transactions that failed on purpose", counts.get("undone") ?? 0],
  ["rejected because the worker died", counts.get("refused") ?? 0],
  ["rows read and compared", counts.get("read") ?? 0],
  ["checkpoints", counts.get("maintained") ?? 0],
  ["indexes checked with amcheck", counts.get("index") ?? 0],
  ["open after SIGKILL, ms: mean / max", `${mean(opens)} / ${highest(opens)}`],
  ["resident set, MB: mean / max", `${mean(rss)} / ${highest(rss)}`],
  [
    "event loop delay, ms: mean p50 / mean p99 / max",
    `${mean(column(1))} / ${mean(column(2))} / ${highest(column(3))}`,
  ],
  ["data directory at the end, MB", directorySize(directory)],
  ["violations", violations.length],
];
for (const [name, value] of table) process.stdout.write(`${name.padEnd(50)} ${value}\n`);
for (const violation of violations.slice(0, 20)) process.stdout.write(`VIOLATION ${violation}\n`);
rmSync(directory, { recursive: true, force: true });
process.exitCode = violations.length === 0 ? 0 : 1;
