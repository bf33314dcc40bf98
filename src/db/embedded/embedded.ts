import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Options } from "postgres";
import { AppError } from "../../errors.ts";
import { type EmbeddedSocket, socketFactory } from "./bridge.ts";
import { checkDataDirectory, prepareCluster } from "./data-directory.ts";
import { lockDirectory } from "./directory-lock.ts";
import { Engine } from "./engine.ts";

/** Options for `postgres()`. Spread yours over them, but not over these keys. */
type EmbeddedDriverOptions = Options<Record<never, never>> & {
  socket: () => EmbeddedSocket;
};

/** A running embedded database. */
export interface EmbeddedDatabase {
  /** What makes `postgres(driverOptions)` speak to it. One client at a time. */
  readonly driverOptions: EmbeddedDriverOptions;
  /** From now on the listener is told, in a sentence that may be logged, of each death and each start that failed. */
  onTrouble(listener: (trouble: string) => void): void;
  /**
   * Checkpoints, closes the database, ends its worker and gives the directory up; within about five
   * seconds even behind a long query. Call it after `sql.end()`. Idempotent.
   */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Told each time the worker died and each time it could not be started again, for the log. */
  readonly onWorkerDeath?: (error: Error) => void;
}

/**
 * Opens the PostgreSQL that runs inside this process (PGlite), making `dataDir` and its cluster
 * (`dataDir/pgdata`) on the first start, which takes some seconds.
 *
 * It survives `kill -9` of the process at any moment with every acknowledged write; not a power cut,
 * because PGlite never calls fsync. It has one session, no `statement_timeout`, and neither
 * autovacuum nor a checkpointer: somebody must run `CHECKPOINT` and `VACUUM (ANALYZE)` regularly, or
 * the WAL and the tables grow without bound.
 *
 * When the worker dies, what it had not answered rejects with SQLSTATE 57P02 (in doubt), an open
 * transaction is lost and says so, and later queries wait for the next worker.
 *
 * Rejects with `UNAVAILABLE` when another process owns the directory (naming its pid), when it holds
 * something else, or a cluster of another PostgreSQL major version.
 */
export async function openEmbedded(
  dataDir: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  const directory = resolve(dataDir);
  await checkDataDirectory(directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(directory);
  try {
    const cluster = await prepareCluster(directory);
    let tell = (_trouble: string): void => {};
    const engine = new Engine(cluster, {
      onFailure(error, when) {
        options.onWorkerDeath?.(error);
        tell(
          when === "running"
            ? "the embedded database broke down and is started again"
            : `the embedded database cannot start: ${error.message}`,
        );
      },
    });
    await engine.start();
    return {
      driverOptions: driverOptions(engine),
      onTrouble(listener) {
        tell = listener;
      },
      async close() {
        await engine.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw doesNotOpen(directory, error);
  }
}

function doesNotOpen(directory: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError("UNAVAILABLE", `The database in ${directory} does not open: ${reason}.`, {
    cause,
  });
}

function driverOptions(engine: Engine): EmbeddedDriverOptions {
  return {
    socket: socketFactory(engine),
    // Only named in errors; set so that PGHOST and its like in the environment change nothing.
    host: "embedded",
    port: 0,
    user: "postgres",
    database: "postgres",
    password: "",
    ssl: false,
    max: 1,
    // Named statements would die with a worker. postgres.js then retries the one that failed, and a
    // COMMIT retried in a failed transaction rolls back and is reported as done.
    prepare: false,
    idle_timeout: 0,
    max_lifetime: null,
    // A restart that replays a long WAL may take its time; a worker that cannot start says so.
    connect_timeout: 0,
  };
}
