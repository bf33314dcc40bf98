import type { Engine, EngineListener, RunOutput } from "./engine.ts";
import {
  errorFrame,
  type Frame,
  FrameReader,
  parseFrame,
  queryFrame,
  readyFrame,
  statementOf,
  type TransactionStatus,
} from "./frames.ts";
import { COPY_REFUSAL, copiesFromStdin, endsTransaction } from "./statements.ts";

/** Where a session's answers go. */
export interface SessionClient {
  push(bytes: Buffer): void;
  /** The session could not even begin. */
  refuse(error: Error): void;
}

/** What the client sends up to one Sync or Query; one ReadyForQuery answers it. */
interface Cycle {
  endsTransaction: boolean;
  hasFailed: boolean;
}

const CRASHED = "57P02";
const CANNOT_CONNECT = "57P03";
const IN_DOUBT =
  "the embedded database stopped while this statement ran: it may or may not have been applied";
const LOST = "the embedded database stopped during this transaction: nothing of it was stored";

/**
 * One client's session with the engine, kept alive across the death of a worker.
 *
 * The socket is not closed on a death: postgres.js 3.4.9 then crashes the process or never
 * reconnects, and sends the rest of a transaction outside it (its issues 1133, 1208 and 1216).
 * Instead, what the dead worker owed is answered with errors, and a lost transaction stays failed
 * until the client ends it.
 */
export class Session implements EngineListener {
  readonly #engine: Engine;
  readonly #client: SessionClient;
  readonly #reader = new FrameReader();
  #startup: Buffer | undefined;
  /** The current worker knows this session. */
  #isAttached = false;
  /** The client got the answer to its startup packet. */
  #isOpen = false;
  #isEnded = false;
  /** Messages that await a worker. Always empty while one is attached. */
  #held: Buffer[] = [];
  #heldCycles = 0;
  /** The cycle being received. */
  #current: Cycle | undefined;
  /** Whole cycles that await their answer, oldest first. */
  #awaiting: Cycle[] = [];
  #status: TransactionStatus = "I";
  /** The transaction went down with a worker: nothing reaches the engine until the client ends it. */
  #isLost = false;

  constructor(engine: Engine, client: SessionClient) {
    this.#engine = engine;
    this.#client = client;
  }

  /** Takes bytes from the client, cut anywhere. */
  receive(chunk: Buffer): void {
    for (const frame of this.#reader.read(chunk)) {
      if (frame.type === "") this.#startup = Buffer.from(frame.bytes);
      else if (frame.type !== "X") this.#accept(frame);
    }
    this.#flush();
  }

  /** The client is gone: late answers are dropped. */
  end(): void {
    this.#isEnded = true;
  }

  onDown(): void {
    this.#isAttached = false;
    if (this.#isEnded) return;
    if (this.#isOpen) {
      this.#isLost = this.#status !== "I";
      this.#failAll(CRASHED, IN_DOUBT);
    } else {
      // Nothing was owed but the answer to the startup packet, which the next worker can give.
      this.#flush();
    }
  }

  onUp(): void {
    if (!this.#isEnded) this.#flush();
  }

  onStartFailed(error: Error): void {
    if (this.#isEnded) return;
    const message = `the embedded database cannot start: ${error.message}`;
    if (this.#isOpen) this.#failAll(CANNOT_CONNECT, message);
    else this.#client.refuse(new Error(message, { cause: error }));
  }

  /** Holds one message for the engine, or answers it here. */
  #accept(frame: Frame): void {
    this.#current ??= { endsTransaction: false, hasFailed: false };
    const cycle = this.#current;
    const bytes = this.#inspect(frame, cycle);
    if (this.#isLost) this.#fail(cycle, CRASHED, LOST);
    if (!cycle.hasFailed) this.#held.push(bytes);
    if (frame.type !== "Q" && frame.type !== "S") return;
    this.#current = undefined;
    if (cycle.hasFailed) {
      this.#ready(cycle);
    } else {
      this.#awaiting.push(cycle);
      this.#heldCycles += 1;
    }
  }

  /** Notes what a statement does to the transaction; returns the message to send in its place. */
  #inspect(frame: Frame, cycle: Cycle): Buffer {
    if (frame.type !== "Q" && frame.type !== "P") return frame.bytes;
    const { name, sql } = statementOf(frame);
    cycle.endsTransaction ||= endsTransaction(sql);
    if (!copiesFromStdin(sql)) return frame.bytes;
    return frame.type === "Q" ? queryFrame(COPY_REFUSAL) : parseFrame(name, COPY_REFUSAL);
  }

  #flush(): void {
    if (this.#startup === undefined) return;
    if (!this.#engine.isUp) {
      if (!this.#isOpen || this.#held.length > 0) this.#engine.revive();
      return;
    }
    if (!this.#isAttached) this.#attach(this.#startup);
    if (this.#held.length === 0) return;
    const bytes = join(this.#held);
    const cycles = this.#heldCycles;
    this.#held = [];
    this.#heldCycles = 0;
    this.#engine.run(bytes, (output) => this.#answer(output, cycles));
  }

  /** Makes the engine's one backend this session's, whoever had it before. */
  #attach(startup: Buffer): void {
    this.#isAttached = true;
    this.#engine.run(join([queryFrame("ROLLBACK"), queryFrame("DISCARD ALL")]), () => {});
    this.#engine.run(join([startup]), (output) => {
      // After a restart the client has long had this answer.
      if (!this.#isOpen) this.#answer(output, 0);
      this.#isOpen = true;
    });
  }

  /** Hands over the engine's output, which answers that many cycles. */
  #answer(output: RunOutput, cycles: number): void {
    if (this.#isEnded) return;
    this.#awaiting.splice(0, cycles);
    const status = cycles > 0 ? output.at(-1)?.at(-1) : undefined;
    if (status !== undefined) this.#status = String.fromCharCode(status) as TransactionStatus;
    for (const piece of output) if (piece.length > 0) this.#client.push(piece);
  }

  #failAll(code: string, message: string): void {
    this.#held = [];
    this.#heldCycles = 0;
    for (const cycle of this.#awaiting.splice(0)) {
      this.#fail(cycle, code, message);
      this.#ready(cycle);
    }
    if (this.#current !== undefined) this.#fail(this.#current, code, message);
  }

  #fail(cycle: Cycle, code: string, message: string): void {
    if (cycle.hasFailed) return;
    cycle.hasFailed = true;
    this.#say(errorFrame(code, message));
  }

  #ready(cycle: Cycle): void {
    if (cycle.endsTransaction) this.#isLost = false;
    this.#status = this.#isLost ? "E" : "I";
    this.#say(readyFrame(this.#status));
  }

  /** An own answer. Later, because postgres.js forgets what it writes while its own write still runs. */
  #say(bytes: Buffer): void {
    process.nextTick(() => {
      if (!this.#isEnded) this.#client.push(bytes);
    });
  }
}

/** One buffer of its own, which may be given away. */
function join(parts: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
