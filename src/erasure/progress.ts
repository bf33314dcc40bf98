import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { Counts } from "../jobs/handler.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { type Erasing, Moved } from "./erasing.ts";
import { type Scan, type Scrub, totalOf } from "./erasure.ts";
import type { Ledger } from "./ledger.ts";
import type { Entry, EntryChanges, LedgerRepository } from "./ledger-repository.ts";
import type { ErasureRepository } from "./repository.ts";
import type { Scanning } from "./scanning.ts";

/** The job that erases and looks whether anything is left. */
export const ERASE_JOB = "erasures.run";
/** The job that takes the bytes of what was erased out of the database's files. */
export const SCRUB_JOB = "erasures.scrub";

const MOST = 5_000;
/** Entries looked for with one scan. */
const TOGETHER = 100;
/** Of a fact that was stated more often the first ones are looked for. */
const IDS_EACH = 10;
/** What is left after so many rounds will not go by itself. */
const ROUNDS = 3;
/** Less than this is rewritten in some seconds: at once. More waits for the quiet time. */
const SMALL_BYTES = 64 * 1024 * 1024;

/** Does the database's part of a scrub. */
interface Scrubber {
  /** @returns undefined where a table could not be had */
  scrub(): Promise<(Omit<Scrub, "at"> & { readonly unverified: readonly string[] }) | undefined>;
  /** Of all tables, in bytes. */
  size(): Promise<number>;
}

export interface ProgressDependencies {
  readonly entries: LedgerRepository;
  readonly ledger: Ledger;
  readonly rows: ErasureRepository;
  readonly erasing: Erasing;
  readonly scanning: Scanning;
  readonly scrubber: Scrubber;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Leads every entry from one state to the next: erasing, erased, verified, scrubbed. */
export class Progress {
  readonly #deps: ProgressDependencies;

  constructor(deps: ProgressDependencies) {
    this.#deps = deps;
  }

  /** Erases what is open, and verifies what was erased. What cannot be verified yet is tried by the next run. */
  async erase(signal: AbortSignal): Promise<Counts> {
    const counts = { erased: 0, verified: 0, failed: 0 };
    let awaited: string | undefined;
    const faults: unknown[] = [];
    const open = await this.#open(["erasing", "erased"]);
    for (const entry of open.filter((one) => !isSmall(one))) {
      signal.throwIfAborted();
      try {
        const { state } = await this.#lead(entry, signal);
        if (entry.state === "erasing" && state !== "erasing") counts.erased++;
        if (state === "verified" || state === "failed") counts[state]++;
        if (state === "verified") awaited = entry.id;
      } catch (error) {
        // One that cannot be erased now keeps no other waiting.
        faults.push(error);
      }
    }
    const small = open.filter(isSmall);
    for (let at = 0; at < small.length; at += TOGETHER)
      counts.verified += await this.#verifyTogether(small.slice(at, at + TOGETHER), signal);
    // A fact that somebody forgot waits for the quiet time, or goes along.
    if (awaited && (await this.#deps.scrubber.size()) <= SMALL_BYTES)
      await this.#requestScrub(awaited);
    if (faults.length > 0) throw faults[0];
    return counts;
  }

  /** As far as it goes now. */
  async #lead(entry: Entry, signal: AbortSignal): Promise<Entry> {
    let current = entry;
    for (;;) {
      if (current.state === "erasing") {
        await this.#erase(current, signal);
        current = await this.#reread(current);
      }
      current = await this.#verify(current, signal);
      if (current.state !== "erasing") return current;
    }
  }

  /** Many small ones at once: a scan costs the same. Where it finds something, each is looked for by itself. */
  async #verifyTogether(some: readonly Entry[], signal: AbortSignal): Promise<number> {
    const ids = some.flatMap(({ report }) => report.ids.slice(0, IDS_EACH));
    const scan = await this.#deps.scanning.run({ ids, names: [], salt: "", hashes: [] }, signal);
    let verified = 0;
    for (const entry of some) {
      const next = await this.#verify(entry, signal, totalOf(scan.left) === 0 ? scan : undefined);
      if (next.state === "verified") verified++;
    }
    return verified;
  }

  /** One scrub for all that was verified. @returns how many entries came to their end */
  async scrub(): Promise<number | "busy"> {
    const { entries, ledger, scrubber, transactions, clock } = this.#deps;
    const verified = await this.#open(["verified"]);
    if (verified.length > 0) {
      // First what these rows themselves hold: it has to be gone from the files too.
      for (const { orgId, id, report } of verified) {
        const bare = { report, work: {} };
        await transactions.tenant({ orgId }, (tx) => entries.update({ orgId }, id, bare, tx));
      }
      const done = await scrubber.scrub();
      if (!done) return "busy";
      const { unverified, ...scrub } = done;
      const at = clock();
      // With its seal: whoever reads that an entry came to its end has the proof of it too.
      for (const [orgId, some] of Map.groupBy(verified, (entry) => entry.orgId)) {
        await transactions.tenant({ orgId }, async (tx) => {
          for (const { id, report } of some) {
            const changes: EntryChanges = {
              state: "scrubbed",
              scrubbedAt: at,
              work: {},
              report: {
                ...report,
                scrub: { at: at.toISOString(), ...scrub },
                unverified: [...report.unverified, ...unverified],
              },
            };
            await entries.update({ orgId }, id, changes, tx);
          }
          await ledger.seal({ orgId }, tx);
        });
      }
    }
    return verified.length;
  }

  async #erase(entry: Entry, signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.erasing.run(entry, signal);
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      await this.#fail(await this.#reread(entry), error.message);
      return;
    }
    const { report, work } = await this.#reread(entry);
    await this.#update(entry, { state: "erased", erasedAt: this.#deps.clock(), report, work });
  }

  /** @returns the entry in its next state, or as it is while an index elsewhere still has to delete */
  async #verify(entry: Entry, signal: AbortSignal, seen?: Scan): Promise<Entry> {
    if (entry.state !== "erased") return entry;
    const { scanning, rows, transactions, clock } = this.#deps;
    const { ids } = entry.report;
    const { samples, externalIds = [], rounds = 0 } = entry.work;
    const names = externalIds.filter((id) => id.length >= 6);
    const { salt = "", hashes = [] } = samples ?? {};
    const scan = seen ?? (await scanning.run({ ids, names, salt, hashes }, signal));
    const vectorsWaiting = await transactions.tenant(entry, (tx) => rows.vectorsWaiting(entry, tx));
    const report = { ...entry.report, scan, vectorsWaiting };
    if (totalOf(scan.left) === 0) {
      const isOver = vectorsWaiting === 0;
      const next = isOver ? ({ state: "verified", verifiedAt: clock() } as const) : {};
      return this.#update(entry, { ...next, report, work: entry.work });
    }
    if (rounds + 1 >= ROUNDS || !entry.work.target)
      return this.#fail({ ...entry, report }, "the scan went on finding what should be gone");
    const work = { ...entry.work, rounds: rounds + 1 };
    return this.#update(entry, { state: "erasing", report, work });
  }

  async #fail(entry: Entry, reason: string): Promise<Entry> {
    const { ledger, transactions } = this.#deps;
    const failed = { state: "failed", report: { ...entry.report, reason }, work: {} } as const;
    const updated = await this.#update(entry, failed);
    await transactions.tenant(entry, (tx) => ledger.seal(entry, tx));
    return updated;
  }

  async #update(entry: Entry, changes: EntryChanges): Promise<Entry> {
    const { entries, transactions } = this.#deps;
    await transactions.tenant(entry, (tx) => entries.update(entry, entry.id, changes, tx));
    return this.#reread(entry);
  }

  async #reread(entry: Entry): Promise<Entry> {
    const { entries, transactions } = this.#deps;
    const found = await transactions.tenant(entry, (tx) => entries.find(entry, entry.id, tx));
    if (!found) throw new Error("an entry is gone");
    return found;
  }

  #open(states: readonly Entry["state"][]): Promise<Entry[]> {
    const { entries, transactions } = this.#deps;
    return transactions.system("erasure", (tx) => entries.inStates(states, MOST, tx));
  }

  async #requestScrub(id: string): Promise<void> {
    const { queue, transactions, clock } = this.#deps;
    const now = clock();
    const job = { kind: SCRUB_JOB, orgId: null, payload: {}, runAt: now };
    await transactions.system("erasure", (tx) => queue.enqueue({ ...job, dedupeKey: id }, now, tx));
  }
}

/** Erased in the transaction of whoever asked for it. */
function isSmall({ kind, state }: Entry): boolean {
  return state === "erased" && (kind === "fact" || kind === "message");
}
