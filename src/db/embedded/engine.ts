import { Worker } from "node:worker_threads";
import type { EngineReply, EngineRequest, EngineWorkerData } from "./engine-worker.ts";

/** Who is told about the engine's life. None of the three may throw. */
export interface EngineListener {
  /** The worker died: what it had not answered stays unanswered. `revive()` starts another. */
  onDown(error: Error): void;
  /** A fresh worker serves the same directory, with an empty session. */
  onUp(): void;
  /** No worker could be started. The next `revive()` tries again. */
  onStartFailed(error: Error): void;
}

/** Output of one run: whole protocol messages, in pieces that may cut them. */
export type RunOutput = readonly Buffer[];

/**
 * PostgreSQL stops a recursion at 2 MB of its own stack (`max_stack_depth`), which takes more than
 * the 4 MB a thread has: the engine would trap first. 32 MB let a recursive function and JSON nested
 * 200,000 deep end in an answer or a clean error.
 */
const STACK_MB = 32;

/** A close that is not heard for so long waits behind a query nobody can stop; a kill loses nothing. */
const CLOSE_HEARD_WITHIN_MS = 5_000;

export interface EngineOptions {
  /** Told of every death and every failed restart, for the log. Only what a start says holds no values of rows. */
  readonly onFailure?: ((error: Error, when: "running" | "starting") => void) | undefined;
  /** Whether to make a cluster in the directory, which is empty then. */
  readonly isNew?: boolean;
}

/** Owns the worker thread: starts it, restarts it in place when it dies, ends it. */
export class Engine {
  readonly #workerData: EngineWorkerData;
  readonly #onFailure: NonNullable<EngineOptions["onFailure"]>;
  readonly #runs: ((output: RunOutput) => void)[] = [];
  #pieces: Buffer[] = [];
  #worker: Worker | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #listener: EngineListener | undefined;

  constructor(directory: string, { onFailure = () => {}, isNew = false }: EngineOptions = {}) {
    this.#workerData = { directory, isNew };
    this.#onFailure = onFailure;
  }

  /** Whether `run` may be called now. */
  get isUp(): boolean {
    return (
      this.#worker !== undefined && this.#starting === undefined && this.#closing === undefined
    );
  }

  set listener(listener: EngineListener) {
    this.#listener = listener;
  }

  /** Starts the first worker; rejects with its error when the directory does not open. */
  async start(): Promise<void> {
    this.#starting = this.#spawn();
    try {
      await this.#starting;
    } finally {
      this.#starting = undefined;
    }
  }

  /** Starts a worker if none runs or starts; the listener hears how it went. */
  revive(): void {
    if (this.#closing !== undefined) {
      this.#listener?.onStartFailed(new Error("it was closed"));
      return;
    }
    if (this.#worker !== undefined || this.#starting !== undefined) return;
    this.start().then(
      () => this.#listener?.onUp(),
      (cause: unknown) => {
        const error = cause instanceof Error ? cause : new Error(String(cause));
        this.#onFailure(error, "starting");
        this.#listener?.onStartFailed(error);
      },
    );
  }

  /**
   * Runs whole protocol messages; `bytes` is given away. Answers come in the order of the calls, and
   * never when the worker dies first.
   */
  run(bytes: Uint8Array<ArrayBuffer>, reply: (output: RunOutput) => void): void {
    this.#runs.push(reply);
    this.#post({ kind: "run", bytes }, [bytes.buffer]);
  }

  /** Checkpoints, closes the database and ends the worker. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => {});
    const worker = this.#worker;
    if (worker === undefined) return;
    const limit = setTimeout(() => void worker.terminate(), CLOSE_HEARD_WITHIN_MS);
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.on("message", (message: EngineReply) => {
      if (message.kind === "closing") clearTimeout(limit);
    });
    this.#post({ kind: "close" });
    await ended;
    clearTimeout(limit);
  }

  #spawn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL("./engine-worker.ts", import.meta.url), {
        workerData: this.#workerData,
        resourceLimits: { stackSizeMb: STACK_MB },
      });
      let isReady = false;
      let failure: Error | undefined;
      worker.on("message", (message: EngineReply) => {
        if (message.kind === "ready") {
          isReady = true;
          this.#worker = worker;
          resolve();
        } else if (message.kind === "output") this.#receive(message);
      });
      worker.on("error", (error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
      });
      worker.once("exit", (code) => {
        const error =
          failure ?? new Error(`the embedded database's worker ended with code ${code}`);
        if (!isReady) reject(error);
        else this.#down(error, code === 0 && this.#closing !== undefined);
      });
    });
  }

  #receive(message: { bytes: Uint8Array; last: boolean }): void {
    const { buffer, byteOffset, byteLength } = message.bytes;
    this.#pieces.push(Buffer.from(buffer, byteOffset, byteLength));
    if (!message.last) return;
    const output = this.#pieces;
    this.#pieces = [];
    this.#runs.shift()?.(output);
  }

  #down(error: Error, isExpected: boolean): void {
    this.#worker = undefined;
    this.#runs.length = 0;
    this.#pieces = [];
    this.#listener?.onDown(error);
    if (!isExpected) this.#onFailure(error, "running");
  }

  #post(request: EngineRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(request, transfer);
  }
}

/** Makes a new cluster in an empty directory, in a worker of its own: initdb's memory goes with it. */
export async function initialiseCluster(directory: string): Promise<void> {
  const engine = new Engine(directory, { isNew: true });
  await engine.start();
  await engine.close();
}
