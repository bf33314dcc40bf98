import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import postgres from "postgres";
import { expect } from "vitest";
import { type EmbeddedDatabase, openEmbedded } from "../../../src/db/embedded/embedded.ts";

/** A temporary directory that is gone when the test file is done; `dispose` removes it. */
export function temporaryDirectory(): { path: string; dispose: () => void } {
  const path = mkdtempSync(join(tmpdir(), "souvenir-embedded-"));
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}

export function connect(database: EmbeddedDatabase): postgres.Sql {
  return postgres({ ...database.driverOptions, onnotice: () => {} }) as postgres.Sql;
}

/** An open database with a client, the errors its worker died of, and a way to make it die. */
export async function startDatabase(dataDir: string) {
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => workers.push(worker);
  process.on("worker", onWorker);
  const deaths: Error[] = [];
  const database = await openEmbedded(dataDir, { onWorkerDeath: (error) => deaths.push(error) });
  const sql = connect(database);
  return {
    database,
    sql,
    deaths,
    async killWorker() {
      await workers.at(-1)?.terminate();
    },
    async stop() {
      process.off("worker", onWorker);
      await sql.end({ timeout: 5 });
      await database.close();
    },
  };
}

const CHILD = fileURLToPath(new URL("./embedded-child.ts", import.meta.url));

/** Another process on a data directory. Whoever starts one ends it: `kill` resolves when it is gone. */
export function startProcess(dataDir: string, mode: "hold" | "write" | "initdb" = "hold") {
  const child = spawn(process.execPath, [CHILD, dataDir, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const ended = Promise.all([once(child, "exit"), once(reader, "close")]);
  return {
    pid: child.pid,
    /** Everything it said so far. */
    lines,
    /** Its first words: `open`, or why it was refused. */
    answer: () => expect.poll(() => lines[0], { timeout: 60_000 }),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    ended,
  };
}
