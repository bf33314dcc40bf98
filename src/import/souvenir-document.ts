import { FileFault } from "./refusal.ts";

/** A line of the stream form, with where it stands in the file. */
export interface ExportedLine {
  readonly number: number;
  readonly text: string;
}

/** As the server takes it; its header alone may not be so long. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const GROUPS = { listed: "listed", sections: "section" } as const;

/**
 * Cuts a document into the lines that the stream form would have, without reading what is in its rows: a parser of JSON
 * would change numbers and the order of keys, and hold all of it.
 */
export async function* readDocument(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportedLine> {
  const cutter = new Cutter();
  for await (const chunk of chunks) yield* cutter.read(Buffer.from(chunk));
  if (cutter.depth !== 0) throw new FileFault("it ends in the middle: it was cut.");
}

class Cutter {
  depth = 0;
  #line = 1;
  #inString = false;
  /** The string names what follows: nothing is kept around it. */
  #naming = false;
  #escaped = false;
  #parts: Buffer[] = [];
  #length = 0;
  /** Where what is kept begins in the chunk; undefined while nothing is. */
  #from: number | undefined;
  #startLine = 1;
  #key = "";
  #group: "listed" | "section" | undefined;
  #name = "";
  /** The header's members, until the first group. */
  #header: string[] | undefined = [];

  *read(chunk: Buffer): Generator<ExportedLine> {
    if (this.#from !== undefined) this.#from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === 10) this.#line++;
      if (this.#inString) this.#string(chunk, byte, at);
      else yield* this.#mark(chunk, byte, at);
    }
    if (this.#from !== undefined) this.#keep(chunk, chunk.length);
  }

  #string(chunk: Buffer, byte: number, at: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      // Outside of rows every string is a name.
      if (this.#naming) this.#key = this.#take(chunk, at);
    }
  }

  *#mark(chunk: Buffer, byte: number, at: number): Generator<ExportedLine> {
    const level = this.#group ? 3 : 1;
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#naming = this.#from === undefined;
        if (this.#naming) this.#begin(at + 1);
        break;
      case 0x3a: // :
        if (this.depth === 1) {
          const group = Object.hasOwn(GROUPS, this.#key) && GROUPS[this.#key as "listed"];
          if (group) {
            this.#group = group;
            yield* this.#endHeader();
          } else this.#begin(at + 1);
        } else if (this.depth === 2 && this.#group) this.#name = this.#key;
        break;
      case 0x2c: // ,
        if (this.depth === level && this.#from !== undefined) {
          yield* this.#end(chunk, at);
          if (this.#group) this.#begin(at + 1);
        }
        break;
      case 0x7b: // {
      case 0x5b: // [
        this.depth++;
        if (this.depth === 3 && this.#group && this.#from === undefined) this.#begin(at + 1);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (this.depth === level && this.#from !== undefined) yield* this.#end(chunk, at);
        this.depth--;
        if (this.depth === 1 && this.#group) this.#group = undefined;
        break;
      default:
    }
  }

  #begin(from: number): void {
    this.#from = from;
    this.#startLine = this.#line;
  }

  #keep(chunk: Buffer, end: number): void {
    const part = chunk.subarray(this.#from, end);
    this.#length += part.length;
    if (this.#length > MAX_LINE_BYTES)
      throw new FileFault(`line ${this.#startLine}: it is longer than any row.`);
    // A copy: the stream may use its buffer again.
    this.#parts.push(Buffer.from(part));
  }

  #take(chunk: Buffer, end: number): string {
    this.#keep(chunk, end);
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#length = 0;
    this.#from = undefined;
    return text;
  }

  *#end(chunk: Buffer, at: number): Generator<ExportedLine> {
    const number = this.#startLine;
    const text = this.#take(chunk, at).trim();
    if (text === "") return;
    if (this.#group) {
      // One line, whoever laid the document out anew: line breaks can only stand between its parts.
      const row = text.replace(/[\r\n]/g, " ");
      yield { number, text: `{"${this.#group}":${JSON.stringify(this.#name)},"row":${row}}` };
    } else if (this.#header) this.#header.push(`${JSON.stringify(this.#key)}:${text}`);
    else yield { number, text: `{${JSON.stringify(this.#key)}:${text}}` };
  }

  *#endHeader(): Generator<ExportedLine> {
    if (!this.#header) return;
    yield { number: 1, text: `{${this.#header.join(",").replace(/[\r\n]/g, " ")}}` };
    this.#header = undefined;
  }
}
