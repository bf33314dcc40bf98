import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { readSouvenir } from "../import/souvenir.ts";
import type { ExportedLine } from "../import/souvenir-document.ts";
import { Batches } from "./import-batches.ts";
import { SouvenirReport } from "./souvenir-report.ts";

/** Sends the lines of an export to the server in batches, each of which is stored whole or not at all. */
export class SouvenirImport {
  readonly report = new SouvenirReport();
  readonly #send: (path: string, body: object) => Promise<object>;
  readonly #dryRun: boolean;
  #totals: Readonly<Record<string, number>> = {};

  constructor(send: (path: string, body: object) => Promise<object>, dryRun: boolean) {
    this.#send = send;
    this.#dryRun = dryRun;
  }

  /** @throws after what came before a fault of the file is stored */
  async run(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const batches = new Batches<ExportedLine>((lines) => this.#batch(lines, false));
    let fault: unknown;
    try {
      for await (const line of readSouvenir(await unpacked(chunks))) {
        if (line.text.startsWith('{"totals"')) this.#totals = JSON.parse(line.text).totals ?? {};
        await batches.add(line);
      }
    } catch (error) {
      fault = error;
    }
    await batches.flush();
    // Also of a file that was cut: what is there is folded and indexed.
    if (this.report.count > 0) await this.#batch([], true);
    if (fault !== undefined) throw fault;
    for (const [section, count] of Object.entries(this.#totals))
      if (this.report.rows(section) !== count)
        throw new Error(
          `${section}: the file has ${this.report.rows(section)} rows and says it had ${count}.`,
        );
    if (this.report.refused > 0) throw new Error(`${this.report.refused} lines were refused.`);
  }

  async #batch(lines: readonly ExportedLine[], end: boolean): Promise<void> {
    const body = { dryRun: this.#dryRun, end, lines };
    const answer = await this.#send("/v1/imports/souvenir", body);
    const { lines: outcomes } = answer as { lines: Parameters<SouvenirReport["add"]>[0][] };
    for (const outcome of outcomes) this.report.add(outcome);
  }
}

/** What was packed on its way out is unpacked on its way in. */
async function unpacked(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const source = chunks[Symbol.asyncIterator]();
  const first = await source.next();
  async function* all() {
    if (!first.done) yield first.value;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  const isPacked = !first.done && first.value[0] === 0x1f && first.value[1] === 0x8b;
  if (!isPacked) return all();
  const packed = Readable.from(all(), { objectMode: false });
  const unpacking = createGunzip();
  packed.on("error", (error) => unpacking.destroy(error));
  return packed.pipe(unpacking);
}
