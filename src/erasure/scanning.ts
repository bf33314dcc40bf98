import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { addPlaces, type Places, type Scan } from "./erasure.ts";
import type { ScanRepository, Wanted } from "./scan-repository.ts";

/** Sixteen megabytes a statement: others go on between two. */
const PAGES = 2_048;
/** More ids than these are of statements that went as one; the first ones stand for them. */
const IDS = 1_000;

/** The second phase: looks through every column of every table for what should be gone. */
export class Scanning {
  readonly #rows: ScanRepository;
  readonly #transactions: Transactions;
  readonly #clock: Clock;

  constructor(rows: ScanRepository, transactions: Transactions, clock: Clock) {
    this.#rows = rows;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  async run(wanted: Wanted, signal: AbortSignal): Promise<Scan> {
    const asked = { ...wanted, ids: wanted.ids.slice(0, IDS) };
    const tables = await this.#transactions.system("erasure", (tx) => this.#rows.tables(tx));
    let left: Places = {};
    let kept: Places = {};
    let alike: Places = {};
    let mentions: Places = {};
    for (const table of tables) {
      for (let from = 0; from === 0 || from < table.pages; from += PAGES) {
        signal.throwIfAborted();
        // The last look takes what was added meanwhile too.
        const to = from + PAGES < table.pages ? from + PAGES : 2 ** 32 - 2;
        const found = await this.#transactions.system("erasure", (tx) =>
          this.#rows.look(table, { from, to }, asked, tx),
        );
        left = addPlaces(left, found.left);
        kept = addPlaces(kept, found.kept);
        alike = addPlaces(alike, found.alike);
        mentions = addPlaces(mentions, found.mentions);
      }
    }
    return {
      at: this.#clock().toISOString(),
      tables: tables.length,
      columns: tables.reduce((sum, { columns }) => sum + columns.length, 0),
      ...{ left, kept, samples: wanted.hashes.length, alike, mentions },
    };
  }
}
