import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Transform, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ExportRequest } from "./export-command.ts";
import type { Operator } from "./operator.ts";
import { Progress } from "./progress.ts";
import { withHint } from "./reason.ts";

/** A header is shorter; beyond it the number of rows is not shown. */
const HEADER_BYTES = 64 * 1024;
/** The totals are shorter. */
const TAIL = 4096;
const NEWLINE = 10;
const BRACE = 0x7b;

interface Terminal {
  readonly stdout: Writable;
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

/**
 * Writes an export into a file, or to standard output. The file has its name only once it is whole.
 *
 * @throws where the server refuses, or goes away in the middle
 */
export async function runExport(
  operator: Operator,
  { path, gzip, file }: ExportRequest,
  { stdout, stderr }: Terminal,
): Promise<void> {
  const { status, body } = await operator.stream(path);
  if (status >= 400) {
    const { detail, hint } = JSON.parse(await text(body)) as { detail?: string; hint?: string };
    throw new Error(withHint(detail ?? `the server answered ${status}`, hint));
  }
  const counter = new RowCounter(stderr);
  const partial = file && `${file}.part`;
  const target = partial ? createWriteStream(partial, { mode: 0o600 }) : stdout;
  try {
    await pipeline([body, counter, ...(gzip ? [createGzip()] : []), target], {
      end: target !== stdout,
    });
    counter.requireWhole();
    if (partial) await rename(partial, file);
  } catch (error) {
    if (partial) await rm(partial, { force: true });
    throw error;
  } finally {
    counter.progress?.end();
  }
  stderr.write(`${counter.rows} rows exported${file ? ` to ${file}` : ""}.\n`);
}

/** Passes on what it counts: a row stands on a line of its own in both forms. */
class RowCounter extends Transform {
  progress: Progress | undefined;
  rows = 0;
  readonly #stderr: Terminal["stderr"];
  #begin = "";
  #end = "";
  #isAtStart = false;

  constructor(stderr: Terminal["stderr"]) {
    super();
    this.#stderr = stderr;
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, data: Buffer) => void) {
    if (!this.progress && this.#begin.length < HEADER_BYTES) this.#readHeader(chunk);
    this.#end = (this.#end + chunk.toString("latin1", Math.max(0, chunk.length - TAIL))).slice(
      -TAIL,
    );
    if (this.#isAtStart && chunk[0] === BRACE) this.rows++;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1))
      if (chunk[at + 1] === BRACE) this.rows++;
    this.#isAtStart = chunk.at(-1) === NEWLINE;
    this.progress?.update(this.rows);
    done(null, chunk);
  }

  /** @throws where the answer ended early: an error in its middle cannot be told otherwise */
  requireWhole(): void {
    if (/"totals":\{[^{}]*\}\}\n$/.test(this.#end)) {
      // In the stream form the totals have a line of their own.
      if (/\n\{"totals"[^\n]*\n$/.test(this.#end)) this.rows--;
      return;
    }
    throw new Error("the export broke off in the middle; nothing was kept");
  }

  #readHeader(chunk: Buffer): void {
    this.#begin += chunk.toString("utf8");
    const counts = /"counts":(\{[^}]*\})/.exec(this.#begin)?.[1];
    if (counts === undefined) return;
    const total = Object.values(JSON.parse(counts) as Record<string, number>).reduce(
      (sum, count) => sum + count,
      0,
    );
    this.progress = new Progress(this.#stderr, { total, noun: "rows" });
  }
}
