/**
 * Beyond what platforms send (Telegram 64 KiB, WhatsApp 3 MB), for what stands in for them: 200,000 characters, each
 * escaped to six bytes, must arrive whole.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/** What is kept of a longer body. */
const KEPT_BYTES = 64 * 1024;

export interface Body {
  /** The whole body, or its beginning if `isCut`: what a signature is over. */
  readonly raw: Buffer;
  /** The same as text. Invalid UTF-8 became U+FFFD. */
  readonly text: string;
  /** Length as received. */
  readonly bytes: number;
  readonly isCut: boolean;
}

export const EMPTY_BODY: Body = { raw: Buffer.alloc(0), text: "", bytes: 0, isCut: false };

/**
 * Reads a request's body, at most 4 MiB of it into memory; of a longer one the first 64 KiB. The rest is read and
 * dropped, so that the sender gets an answer instead of a broken connection. Rejects if the sender breaks off.
 */
export async function readBody(stream: AsyncIterable<Uint8Array>): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const isFirstBeyond = bytes <= MAX_BYTES;
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    else if (isFirstBeyond) keepBeginning(chunks, chunk);
  }
  const raw = Buffer.concat(chunks);
  return { raw, text: raw.toString("utf8"), bytes, isCut: bytes > MAX_BYTES };
}

function keepBeginning(chunks: Uint8Array[], next: Uint8Array): void {
  const beginning = Buffer.concat([...chunks, next]).subarray(0, KEPT_BYTES);
  chunks.splice(0, chunks.length, Buffer.from(beginning));
}

/**
 * The JSON value in `text`; undefined if it is none, or nested too deeply to be walked. Numbers that JavaScript
 * cannot hold (an id beyond 2^53) come as their digits in a string: kept exactly, and never taken for another id.
 */
export function parseExactly(text: string): unknown {
  try {
    return JSON.parse(text, exact);
  } catch {
    return undefined;
  }
}

/** Source text is a newer part of JavaScript than the compiler's library knows. */
function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number") return value;
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isExact ? value : (context?.source ?? value);
}
