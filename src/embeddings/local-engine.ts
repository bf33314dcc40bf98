import { Worker } from "node:worker_threads";
import { closedFault, EmbedderFault } from "./embedder.ts";
import type { LocalReply } from "./local-worker.ts";

type Vector = Float32Array<ArrayBuffer>;

/** Owns the model's worker thread: starts it when it is needed first or has died, and ends it. */
export class LocalEngine {
  readonly #script: URL;
  #worker: Worker | undefined;
  #started: Promise<void> | undefined;
  /** Settles what the worker is asked: null = it died over that. */
  #answer: ((vector: Vector | null) => void) | undefined;
  #isClosed = false;

  constructor(script = new URL("./local-worker.ts", import.meta.url)) {
    this.#script = script;
  }

  /**
   * Loads the model where no worker has it: 0.6 to 1 s of CPU.
   *
   * @throws EmbedderFault
   */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedFault());
    this.#started ??= this.#spawn();
    return this.#started;
  }

  /**
   * The vector of a text; null where the worker died over it twice, each time with a model that had worked before. One call
   * at a time.
   *
   * @throws EmbedderFault
   */
  async run(text: string): Promise<Vector | null> {
    return (await this.#attempt(text)) ?? this.#attempt(text);
  }

  async #attempt(text: string): Promise<Vector | null> {
    const started = this.start();
    const worker = this.#worker;
    // A process with nothing else to do stays for an answer that somebody waits for, and for nothing more.
    worker?.ref();
    try {
      await started;
      // Of a worker that has died meanwhile no answer would come.
      if (worker === undefined || worker !== this.#worker) return null;
      const { promise, resolve } = Promise.withResolvers<Vector | null>();
      this.#answer = resolve;
      worker.postMessage(text);
      const vector = await promise;
      if (this.#isClosed) throw closedFault();
      return vector;
    } finally {
      this.#answer = undefined;
      worker?.unref();
    }
  }

  /** Ends the worker in the middle of what it does. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #spawn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const worker = new Worker(this.#script, {
      // What the program was started with is not for a thread that only computes.
      execArgv: [],
      env: {},
      // A panic of the engine prints what it read; that stays in this stream. Reading it would keep the process alive.
      stderr: true,
    });
    worker.unref();
    this.#worker = worker;
    let cause: unknown;
    worker.on("message", (message: LocalReply) => {
      if (message.kind === "ready") resolve();
      else this.#answer?.(message.vector);
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.once("exit", () => {
      this.#worker = undefined;
      this.#started = undefined;
      reject(this.#isClosed ? closedFault() : loadFault(cause));
      this.#answer?.(null);
    });
    return promise;
  }
}

function loadFault(cause: unknown): EmbedderFault {
  return new EmbedderFault("The embedding model that comes with the install cannot be loaded.", {
    cause,
    hint: "Install again (npm ci), give the process more memory, or set EMBEDDER to openai or none.",
    needsOperator: true,
  });
}
