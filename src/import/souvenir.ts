import { readLines } from "./lines.ts";
import { FileFault } from "./refusal.ts";
import { type ExportedLine, MAX_LINE_BYTES, readDocument } from "./souvenir-document.ts";

const MAX_FIRST_LINE = 1024 * 1024;

/**
 * The lines of an export, of which no more than one is held: of a stream as they are, of a document as the stream would have
 * them. What is in them is left to the server.
 *
 * @throws FileFault for a file of another kind, one that was cut, and a line that is longer than any row
 */
export async function* readSouvenir(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportedLine> {
  const source = chunks[Symbol.asyncIterator]();
  const begin = await firstLine(source);
  const all = restOf(begin, source);
  const lines = isHeader(begin) ? linesOf(all) : readDocument(all);
  let isWhole = false;
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && !/^\s*\{\s*"format"\s*:\s*"souvenir-export"/.test(line.text)) throw noExport();
    isFirst = false;
    isWhole = /^\s*\{\s*"totals"/.test(line.text);
    yield line;
  }
  if (isFirst) throw noExport();
  if (!isWhole) throw new FileFault("it ends before its totals: it was cut.");
}

function noExport(): FileFault {
  return new FileFault("it is no export of Souvenir.");
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ExportedLine> {
  for await (const { number, text } of readLines(chunks, MAX_LINE_BYTES)) {
    if (text === undefined) throw new FileFault(`line ${number} is longer than any row.`);
    if (text.trim() !== "") yield { number, text };
  }
}

/** As much of the file as its first line takes. */
async function firstLine(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let begin: Buffer = Buffer.alloc(0);
  while (begin.length < MAX_FIRST_LINE && !begin.includes(10)) {
    const next = await source.next();
    if (next.done) break;
    begin = Buffer.concat([begin, next.value]);
  }
  return begin;
}

async function* restOf(
  begin: Buffer,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield begin;
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
}

/** A stream's first line is whole; a document's goes on, or holds everything. */
function isHeader(begin: Buffer): boolean {
  const end = begin.indexOf(10);
  try {
    const line: unknown = JSON.parse(begin.toString("utf8", 0, end === -1 ? begin.length : end));
    return typeof line === "object" && line !== null && !("sections" in line);
  } catch {
    return false;
  }
}
