/**
 * The PostgreSQL wire protocol as far as the bridge needs it: cutting a client's byte stream into
 * messages, and building the few messages the bridge says itself.
 */

/** Transaction status of ReadyForQuery: idle, in a transaction, in a failed transaction. */
export type TransactionStatus = "I" | "T" | "E";

/** One client message. `type` is its letter, or "" for the startup packet, which has none. */
export interface Frame {
  readonly type: string;
  /** The whole message, type and length included. */
  readonly bytes: Buffer;
}

/** Every protocol message after the first has a type byte; every length field counts itself. */
const LENGTH_BYTES = 4;

/** Cuts a byte stream into messages, wherever the chunks happen to be cut. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #buffered = 0;
  #needed = LENGTH_BYTES;
  #started = false;

  /** Adds a chunk and returns the messages that are now complete, in order. */
  read(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    // A 5 MB parameter arrives in many chunks: joining them only when the message is whole keeps
    // the copying linear.
    if (this.#buffered < this.#needed) return [];
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#buffered);
    const frames: Frame[] = [];
    for (;;) {
      const header = this.#started ? 1 : 0;
      this.#needed = header + LENGTH_BYTES;
      if (rest.length < this.#needed) break;
      this.#needed = header + rest.readUInt32BE(header);
      if (rest.length < this.#needed) break;
      frames.push({
        type: this.#started ? String.fromCharCode(rest[0] ?? 0) : "",
        bytes: rest.subarray(0, this.#needed),
      });
      this.#started = true;
      rest = rest.subarray(this.#needed);
    }
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#buffered = rest.length;
    return frames;
  }
}

/** A message of the given type around a body. */
function frame(type: string, body: Buffer): Buffer {
  const bytes = Buffer.alloc(1 + LENGTH_BYTES + body.length);
  bytes.write(type, 0, "latin1");
  bytes.writeUInt32BE(LENGTH_BYTES + body.length, 1);
  body.copy(bytes, 1 + LENGTH_BYTES);
  return bytes;
}

/** A simple query. */
export function queryFrame(sql: string): Buffer {
  return frame("Q", Buffer.from(`${sql}\0`));
}

/** Parse, with the same statement name and no parameter types. */
export function parseFrame(name: string, sql: string): Buffer {
  return frame("P", Buffer.from(`${name}\0${sql}\0\0\0`));
}

/** ErrorResponse with SQLSTATE `code`. */
export function errorFrame(code: string, message: string): Buffer {
  return frame("E", Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`));
}

/** ReadyForQuery. */
export function readyFrame(status: TransactionStatus): Buffer {
  return frame("Z", Buffer.from(status, "latin1"));
}

/** The SQL text of a Query or Parse message, and the statement name of the latter. */
export function statementOf(message: Frame): { name: string; sql: string } {
  const strings = message.bytes.subarray(1 + LENGTH_BYTES);
  const first = readString(strings, 0);
  if (message.type === "Q") return { name: "", sql: first.text };
  return { name: first.text, sql: readString(strings, first.end).text };
}

function readString(bytes: Buffer, start: number): { text: string; end: number } {
  const zero = bytes.indexOf(0, start);
  const end = zero === -1 ? bytes.length : zero;
  return { text: bytes.toString("utf8", start, end), end: end + 1 };
}

const CANCEL_REQUEST = 80_877_102;

/** Whether a first message asks to cancel another connection's query instead of opening a session. */
export function isCancelRequest(message: Frame): boolean {
  return (
    message.type === "" &&
    message.bytes.length === 16 &&
    message.bytes.readUInt32BE(4) === CANCEL_REQUEST
  );
}
