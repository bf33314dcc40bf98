import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import postgres from "postgres";
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
    killWorker: () => workers.at(-1)?.terminate(),
    async stop() {
      process.off("worker", onWorker);
      await sql.end({ timeout: 5 });
      await database.close();
    },
  };
}
