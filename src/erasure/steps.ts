import type { Transactions, Tx } from "../db/tenant.ts";
import { addPlaces, type Places } from "./erasure.ts";
import type { Entry, LedgerRepository } from "./ledger-repository.ts";
import type { ErasureRepository, Said } from "./repository.ts";
import { sampleOf } from "./sample.ts";

export interface StepsDependencies {
  readonly entries: LedgerRepository;
  readonly rows: ErasureRepository;
  readonly transactions: Transactions;
}

/** What one transaction did, and whether there is more of its kind. */
export interface Step {
  readonly deleted?: Places;
  readonly cleared?: Places;
  readonly more?: boolean;
}

interface Changes {
  readonly ids?: readonly string[];
  readonly before?: Places;
  readonly externalIds?: readonly string[];
}

/** The transactions of one entry; the job's lease has them done by one process at a time. Each notes what it did. */
export class Steps {
  readonly org: { readonly orgId: string };
  readonly entry: Entry;
  readonly #deps: StepsDependencies;
  readonly #signal: AbortSignal;

  constructor(deps: StepsDependencies, entry: Entry, signal: AbortSignal) {
    this.#deps = deps;
    this.entry = entry;
    this.org = { orgId: entry.orgId };
    this.#signal = signal;
  }

  /** Notes what there is to erase. Samples of texts are taken once: after a restart some of them are gone. */
  begin(look: (tx: Tx) => Promise<Changes & { readonly said?: Said }>): Promise<void> {
    return this.once(async (tx) => {
      const { said, ...changes } = await look(tx);
      const { work } = await this.#current(tx);
      const texts =
        said && !work.samples ? await this.#deps.rows.longTexts(this.org, said, tx) : undefined;
      await this.note({ ...changes, ...(texts && { samples: sampleOf(texts) }) }, tx);
      return {};
    });
  }

  /** What was noted so far, by this run or one before it. */
  async ids(): Promise<readonly string[]> {
    const entry = await this.#deps.transactions.tenant(this.org, (tx) => this.#current(tx));
    return entry.report.ids;
  }

  async note(
    { ids, before, ...work }: Changes & Pick<Entry["work"], "samples">,
    tx: Tx,
  ): Promise<void> {
    const entry = await this.#current(tx);
    const { report } = entry;
    await this.#deps.entries.update(
      this.org,
      entry.id,
      {
        report: {
          ...report,
          ids: [...new Set([...report.ids, ...(ids ?? [])])],
          before: Object.keys(report.before).length > 0 ? report.before : (before ?? {}),
        },
        work: { ...entry.work, ...work },
      },
      tx,
    );
  }

  async whileMore(work: (tx: Tx) => Promise<Step>): Promise<void> {
    let more = true;
    while (more) {
      await this.once(async (tx) => {
        const step = await work(tx);
        more = step.more ?? false;
        return step;
      });
    }
  }

  async once(work: (tx: Tx) => Promise<Step>): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#deps.transactions.tenantAtLeisure(this.org, async (tx) => {
      const { deleted = {}, cleared = {} } = await work(tx);
      if (Object.keys(deleted).length + Object.keys(cleared).length === 0) return;
      const { id, report, work: kept } = await this.#current(tx);
      const sums = {
        deleted: addPlaces(report.deleted, deleted),
        cleared: addPlaces(report.cleared, cleared),
      };
      await this.#deps.entries.update(
        this.org,
        id,
        { report: { ...report, ...sums }, work: kept },
        tx,
      );
    });
  }

  async #current(tx: Tx): Promise<Entry> {
    const entry = await this.#deps.entries.find(this.org, this.entry.id, tx);
    if (!entry) throw new Error("an entry is gone");
    return entry;
  }
}
