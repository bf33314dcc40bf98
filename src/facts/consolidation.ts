import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { Counts } from "../jobs/handler.ts";
import type { FoldedKey, SearchIndex } from "../search/service.ts";
import { eraseRows } from "./erasing.ts";
import { type FactEvent, SYSTEM } from "./event.ts";
import { FACT_SCOPES } from "./fact.ts";
import { fold, type KeyState } from "./fold.ts";
import { type DueSet, type History, type Key, nameOf } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import type { FactRepository } from "./repository.ts";
import type { StoredFact } from "./row.ts";
import { advance, changedStates, type StoredState } from "./state.ts";

/** The job that folds what changed. */
export const CONSOLIDATE_JOB = "facts.consolidate";

/** Keys folded in one transaction: some 100 ms, so that writers of the same keys wait no longer. */
const BATCH = 100;

interface Outcome {
  readonly events: readonly FactEvent[];
  readonly failed: number;
}

interface RunOptions {
  readonly signal?: AbortSignal;
  /** `expired`: nothing but what has to be deleted. */
  readonly only?: DueSet;
}

export interface ConsolidationDependencies {
  readonly keys: FactKeyRepository;
  readonly facts: FactRepository;
  readonly index: SearchIndex;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Writes down what the fold says of keys: for indexes, for the audit trail, and to delete what expired. */
export class Consolidation {
  readonly #deps: ConsolidationDependencies;

  constructor(deps: ConsolidationDependencies) {
    this.#deps = deps;
  }

  /**
   * Folds every key that changed, fades or expires up to now, in all orgs. What it costs grows with their number alone.
   * A run that finds nothing to do writes nothing; one that was killed is finished by the next.
   */
  async run({ signal, only = "all" }: RunOptions = {}): Promise<Counts> {
    const { keys, transactions, clock } = this.#deps;
    // One point in time for the whole run, or a long one would see some keys older than others.
    const now = clock();
    const total = {
      keys: 0,
      merged: 0,
      superseded: 0,
      faded: 0,
      expired: 0,
      restored: 0,
      failed: 0,
    };
    for (const name of FACT_SCOPES) {
      const seen = new Set<string>();
      for (;;) {
        const found = await transactions.system("due facts", (tx) =>
          keys.due(name, { now, only, limit: BATCH }, tx),
        );
        // Still due: a row from a replica whose clock is ahead, or a key that could not be folded.
        const due = found.filter((key) => !seen.has(nameOf(key)));
        if (due.length === 0) break;
        for (const key of due) seen.add(nameOf(key));
        for (const ofOrg of Map.groupBy(due, ({ scope }) => scope.orgId).values()) {
          signal?.throwIfAborted();
          const outcome = await this.#foldApart(ofOrg, now);
          total.keys += ofOrg.length;
          total.failed += outcome.failed;
          for (const { kind } of outcome.events) {
            if (kind in total) total[kind as keyof typeof total]++;
          }
        }
      }
    }
    return total;
  }

  /** One key that cannot be folded must not keep the others of its batch from it, day after day. */
  async #foldApart(keys: readonly Key[], now: Date): Promise<Outcome> {
    const [first] = keys;
    if (!first) return { events: [], failed: 0 };
    try {
      const { transactions } = this.#deps;
      const events = await transactions.tenant(first.scope, (tx) => this.fold(keys, now, tx));
      return { events, failed: 0 };
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (keys.length === 1) return { events: [], failed: 1 };
      const outcomes: Outcome[] = [];
      for (const key of keys) outcomes.push(await this.#foldApart([key], now));
      return {
        events: outcomes.flatMap(({ events }) => events),
        failed: outcomes.reduce((sum, { failed }) => sum + failed, 0),
      };
    }
  }

  /**
   * Folds whole keys of one org and one kind of scope, and writes what changed.
   *
   * @param actor who made them change, for the events; default: nobody, they were due
   * @returns the events written
   */
  async fold(keys: readonly Key[], now: Date, tx: Tx, actor?: string): Promise<FactEvent[]> {
    const [first] = keys;
    if (!first) return [];
    const among = { orgId: first.scope.orgId, name: first.scope.name, keys };
    await this.#deps.keys.lock(among, tx);
    const histories = await this.#deps.keys.histories(among, undefined, tx);
    const states = new Map<string, StoredState>();
    const events: FactEvent[] = [];
    const folded: FoldedKey[] = [];
    for (const history of histories) {
      const outcome = await this.#foldOne(history, now, tx);
      for (const [id, state] of outcome.states) states.set(id, state);
      folded.push({ key: history.key, claims: outcome.claims });
      const noted = actor ? outcome.events.map((event) => ({ ...event, actor })) : outcome.events;
      events.push(...noted);
      await this.#deps.facts.addEvents(history.key.scope, noted, tx);
    }
    await this.#deps.keys.apply(among, states, tx);
    await this.#deps.index.indexClaims(among, folded, tx);
    return events;
  }

  /**
   * Expiries happen one after the other, each with the key as it was at its time: so that one late run writes what daily
   * runs would have written.
   */
  async #foldOne({ key, rows, decisions }: History, now: Date, tx: Tx) {
    const events: FactEvent[] = [];
    let current = rows;
    for (;;) {
      const next = nextExpiry(fold(current, decisions, now));
      if (!next) break;
      const justBefore = new Date(next.getTime() - 1);
      current = advance(current, fold(current, decisions, justBefore), justBefore, events);
      const state = fold(current, decisions, next);
      const gone = new Set(state.expired.flatMap((chain) => chain.rows.map(({ id }) => id)));
      current = await this.#expire(key, current, gone, next, events, tx);
      current = advance(current, fold(current, decisions, next), next, events);
    }
    const { claims } = fold(current, decisions, now);
    current = advance(current, { claims, expired: [] }, now, events);
    return { states: changedStates(rows, current), claims, events };
  }

  async #expire(
    key: Key,
    rows: readonly StoredFact[],
    gone: ReadonlySet<string>,
    at: Date,
    events: FactEvent[],
    tx: Tx,
  ): Promise<StoredFact[]> {
    const left = rows.filter(({ id }) => !gone.has(id));
    await eraseRows(
      this.#deps.facts,
      key.scope,
      rows.filter(({ id }) => gone.has(id)),
      left,
      tx,
    );
    for (const row of rows) {
      if (!gone.has(row.id)) continue;
      const { id: factId, agentId } = row;
      events.push({ kind: "expired", factId, agentId, actor: SYSTEM, reason: null, at });
    }
    return left;
  }
}

function nextExpiry({ expired }: KeyState): Date | undefined {
  const times = expired.map(({ expiresAt }) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}
