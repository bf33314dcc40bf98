/** On a terminal the line is drawn anew this often, elsewhere a new line is written this often. */
const REDRAW_MS = 100;
const LINE_MS = 30_000;
const BAR = 24;

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** How far a long command is, on standard error: a bar on a terminal, a line now and then in a log. */
export class Progress {
  readonly #output: Output;
  readonly #total: number;
  readonly #isBytes: boolean;
  readonly #noun: string;
  readonly #started: number;
  #drawn: number;

  /** @param of how many bytes there are to read, or how many things of which each counts */
  constructor(
    output: Output,
    of: ({ readonly bytes: number } | { readonly total: number }) & { readonly noun: string },
  ) {
    this.#output = output;
    this.#isBytes = "bytes" in of;
    this.#total = "bytes" in of ? of.bytes : of.total;
    this.#noun = of.noun;
    this.#started = performance.now();
    this.#drawn = output.isTTY ? Number.NEGATIVE_INFINITY : this.#started;
  }

  update(done: number, count = done): void {
    const now = performance.now();
    if (now - this.#drawn < (this.#output.isTTY ? REDRAW_MS : LINE_MS)) return;
    this.#drawn = now;
    const line = this.#line(done, count, now);
    this.#output.write(this.#output.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  }

  /** Clears the bar; whoever calls it says how it ended. */
  end(): void {
    if (this.#output.isTTY) this.#output.write("\r\x1b[K");
  }

  #line(done: number, count: number, now: number): string {
    const share = this.#total === 0 ? 1 : Math.min(done / this.#total, 1);
    const filled = Math.round(share * BAR);
    const bar = `${"#".repeat(filled)}${"-".repeat(BAR - filled)}`;
    const rate = Math.round((count * 1000) / Math.max(now - this.#started, 1));
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const counted = this.#isBytes
      ? `${megabytes(done)} of ${megabytes(this.#total)} MB  ${count}`
      : `${count} of ${this.#total}`;
    return `[${bar}] ${percent}  ${counted} ${this.#noun}  ${rate}/s`;
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
