/**
 * The worker thread that PGlite runs in, so that a long query never stops the server's event loop.
 *
 * It takes runs of whole wire-protocol messages and answers each run with its output, in order.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { queryFrame } from "./frames.ts";

/** What the main thread asks for. */
export type EngineRequest = { kind: "run"; bytes: Uint8Array } | { kind: "close" };
/** What it gets back. A run is answered by any number of pieces, the last of them marked. */
export type EngineReply =
  | { kind: "ready" }
  | { kind: "output"; bytes: Uint8Array; last: boolean }
  | { kind: "closing" };
export interface EngineWorkerData {
  /** Absolute path of the cluster directory. */
  readonly directory: string;
  /** Whether a cluster is to be made there. */
  readonly isNew: boolean;
}

/** A 20 MB result leaves in pieces of this size instead of being built twice. */
const PIECE_BYTES = 1024 * 1024;
/** How PostgreSQL's error recovery leaves the main loop in PGlite; every other exit is the end. */
const POSTGRES_MAIN_LONGJMP = 100;

/**
 * 32 MB of buffers instead of 128 save about 140 of PGlite's 380 MB resident; the kernel's cache holds
 * the rest. PGlite has no checkpointer: WAL is bounded only together with a scheduled CHECKPOINT.
 */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams,
  ...["-c", "shared_buffers=32MB", "-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"],
];

const port = parentPort;
if (port === null) throw new Error("engine-worker runs as a worker thread");
const { directory, isNew } = workerData as EngineWorkerData;
const database = await open();
dieInsteadOfSpinning(database);

port.on("message", (request: EngineRequest) => {
  // A throw leaves the engine in an unknown state: the worker ends and the main thread starts another.
  (request.kind === "run" ? run(request.bytes) : close()).catch((error: unknown) => {
    setImmediate(() => {
      throw error;
    });
  });
});
reply({ kind: "ready" });

/** Opens the cluster, or makes it in an empty directory. PGlite's own error says nothing of the reason. */
async function open(): Promise<PGlite> {
  // PGlite would put a new and empty database where one has been deleted under a running server.
  if (!isNew && !existsSync(join(directory, "PG_VERSION")))
    throw new Error(`there is no database in ${directory} any more`);
  let reason: string | undefined;
  try {
    const opened = await PGlite.create({
      dataDir: directory,
      startParams: START_PARAMETERS,
      extensions: { vector },
      onStderr(line) {
        reason = /(?:FATAL|PANIC):\s*(.*)/.exec(line)?.[1] ?? reason;
        return true;
      },
    });
    // Half a second and 150 MB, of which a cluster that is copied needs nothing.
    if (isNew) await opened.exec("CREATE EXTENSION vector");
    return opened;
  } catch (error) {
    throw new Error(reason ?? String(error), { cause: error });
  }
}

async function run(bytes: Uint8Array): Promise<void> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  const flush = (last: boolean) => {
    const piece = new Uint8Array(size);
    let offset = 0;
    for (const chunk of chunks) {
      piece.set(chunk, offset);
      offset += chunk.length;
    }
    chunks = [];
    size = 0;
    reply({ kind: "output", bytes: piece, last }, [piece.buffer]);
  };
  await execute(bytes, (view) => {
    // A view into the engine's memory, overwritten by the next message.
    chunks.push(view.slice());
    size += view.length;
    if (size >= PIECE_BYTES) flush(false);
  });
  flush(true);
}

/**
 * Runs messages through the engine. The streaming call, because execProtocolRawSync also parses and
 * keeps every message it returns: memory would grow with every row ever read.
 */
function execute(bytes: Uint8Array, onRawData: (view: Uint8Array) => void = () => {}) {
  return database.execProtocolRawStream(bytes, { syncToFs: false, onRawData });
}

async function close(): Promise<void> {
  reply({ kind: "closing" });
  if (database.isInTransaction()) await execute(queryFrame("ROLLBACK"));
  // The next start then has nothing to replay.
  await execute(queryFrame("CHECKPOINT"));
  await database.close();
  port?.close();
}

/**
 * PGlite swallows an exit or a trap of the engine (stack or memory exhausted) and goes on with what is
 * left of it: the query is never answered, and the next one gets its answer or hangs in an endless
 * loop. The engine's main loop is wrapped so that the thread ends instead.
 */
function dieInsteadOfSpinning(engine: PGlite): void {
  const module = engine.Module;
  const loop = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      loop();
    } catch (error) {
      if ((error as { status?: number }).status === POSTGRES_MAIN_LONGJMP) throw error;
      process.exit(1);
    }
  };
}

function reply(message: EngineReply, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}
