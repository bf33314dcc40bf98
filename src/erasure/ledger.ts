import { v7 } from "uuid";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { hashOf } from "./chain.ts";
import { EMPTY_REPORT, type ErasureKind, type Places, type Target } from "./erasure.ts";
import { type Entry, type LedgerRepository, shown } from "./ledger-repository.ts";

/** Entries sealed with one look. */
const PAGE = 200;
/** A report names so many ids; a fact that was stated more often is named by these. */
const NAMED_IDS = 1_000;

interface Scope {
  readonly orgId: string;
}

/** What somebody erased at once, in a transaction of their own. */
export interface Erased {
  readonly kind: ErasureKind;
  readonly subjectId: string;
  readonly ids: readonly string[];
  readonly deleted: Places;
}

/** Adds entries to an org's chain of erasures, and closes them. */
export class Ledger {
  readonly #entries: LedgerRepository;
  readonly #clock: Clock;

  constructor(entries: LedgerRepository, clock: Clock) {
    this.#entries = entries;
    this.#clock = clock;
  }

  /** The entry of something that has to be erased; the one that is there while the same thing is being erased. */
  async open(
    scope: Scope,
    by: { readonly keyId: string },
    subject: { readonly kind: ErasureKind; readonly subjectId: string; readonly target: Target },
    tx: Tx,
  ): Promise<Entry> {
    const { kind, subjectId, target } = subject;
    await this.#entries.lock(scope, tx);
    const known = await this.#entries.findOpen(scope, { kind, subjectId }, tx);
    if (known) return known;
    const entry = { id: v7(), kind, subjectId, requestedBy: by.keyId, at: this.#clock() };
    const content = { report: EMPTY_REPORT, work: { target } };
    return this.#entries.append(scope, { ...entry, ...content, state: "erasing" }, tx);
  }

  /** The entry of something small that is erased in this very transaction. Its bytes go with the next scrub. */
  async note(
    scope: Scope,
    by: { readonly keyId: string },
    { ids, deleted, ...subject }: Erased,
    tx: Tx,
  ): Promise<void> {
    const report = { ...EMPTY_REPORT, ids: ids.slice(0, NAMED_IDS), deleted };
    const entry = { id: v7(), ...subject, requestedBy: by.keyId, at: this.#clock() };
    await this.#entries.append(scope, { ...entry, report, work: {}, state: "erased" }, tx);
  }

  /** Seals what came to its end, in the order of the chain, as far as no entry before it is still open. */
  async seal(scope: Scope, tx: Tx): Promise<void> {
    await this.#entries.lock(scope, tx);
    let after = 0;
    let previousHash: string | null = null;
    for (;;) {
      const page = await this.#entries.following(scope, { after, limit: PAGE }, tx);
      for (const entry of page) {
        if (entry.hash === null) {
          if (entry.state !== "scrubbed" && entry.state !== "failed") return;
          const hash = hashOf({ ...shown(entry), previousHash });
          await this.#entries.seal(scope, { id: entry.id, previousHash, hash }, tx);
          previousHash = hash;
        } else previousHash = entry.hash;
        after = entry.position;
      }
      if (page.length < PAGE) return;
    }
  }
}
