import { v7 } from "uuid";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { SearchIndex } from "../search/service.ts";
import type { Claim } from "./claims.ts";
import { COMPARE_JOB } from "./comparison.ts";
import type { Consolidation } from "./consolidation.ts";
import type { FactEvent } from "./event.ts";
import { CALL_SOURCE } from "./fact.ts";
import { fold } from "./fold.ts";
import { mayMeanTheSame } from "./guard.ts";
import type { History, Key, Keys } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import { sameMeaning } from "./meaning.ts";
import type { FactRepository } from "./repository.ts";
import type { FactRow, FactScope, StoredFact } from "./row.ts";
import { searchTextOf } from "./search-text.ts";
import { advance, changedStates, type StoredState, statesOf, UNFOLDED } from "./state.ts";
import { eventOf, type Verdict, verdictOn, wasWrittenBefore } from "./verdict.ts";
import type { CompleteDraft } from "./watch.ts";

/**
 * Rows of one key that a statement looks at: an agent that floods a key must not make each call slower. Beyond it the
 * answer is about the newest ones, and consolidation folds the key.
 */
const KEY_ROWS = 1000;

/** One claim by one source, on its way into a key. */
export interface Statement {
  readonly scope: FactScope;
  readonly draft: CompleteDraft;
  readonly agentId: string;
  readonly identityId: string | null;
  /** Undefined where a call names none: the server makes one. */
  readonly sourceMessageId: string | undefined;
  readonly sourceReason: "user-correction" | null;
  readonly conversation: string | null;
  readonly writtenBy: string;
  readonly observedAt: Date;
  /** Of an edit: the value that a person replaces by this one. */
  readonly replaces?: unknown;
}

export interface StatementDependencies {
  readonly facts: FactRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly index: SearchIndex;
  /** Where comparisons by an embedder are queued; absent = no embedder, and what is worded differently means another thing. */
  readonly comparisons?: JobQueue | undefined;
}

/** Appends statements to keys. */
export class Statements {
  readonly #facts: FactRepository;
  readonly #keys: FactKeyRepository;
  readonly #consolidation: Consolidation;
  readonly #index: SearchIndex;
  readonly #comparisons: JobQueue | undefined;

  constructor({ facts, keys, consolidation, index, comparisons }: StatementDependencies) {
    this.#facts = facts;
    this.#keys = keys;
    this.#consolidation = consolidation;
    this.#index = index;
    this.#comparisons = comparisons;
  }

  /**
   * Appends one statement and folds its key at once. A source that said the same before gets its first answer.
   *
   * @throws AppError CONFLICT when the source has said another value under this key, or what it said was archived
   */
  async append(statement: Statement, now: Date, tx: Tx): Promise<Verdict> {
    const { scope, draft, agentId } = statement;
    const key: Key = { scope, agentId, key: draft.key };
    const among = { orgId: scope.orgId, name: scope.name, keys: [key] };
    await this.#keys.lock(among, tx);
    const { rows: before, decisions } = await this.#history(among, key, now, tx);
    const fresh = rowOf(statement, now);
    const written = await this.#facts.insert(
      scope,
      { ...fresh, identityId: statement.identityId, state: stateAlone(fresh, now) },
      tx,
    );
    const row = written ?? (await this.#stated(key, fresh.sourceMessageId, draft.value, tx));
    const rows = written ? [...before, written] : before;
    const folded = fold(
      rows.filter((other) => wasWrittenBefore(other, row)),
      decisions.filter(({ at }) => at <= row.createdAt),
      row.createdAt,
    );
    const { verdict, others } = verdictOn(row, folded);
    if (!written) return verdict;
    const event = eventOf(row, verdict, others, statement.writtenBy);
    const events: FactEvent[] = [
      "replaces" in statement ? { ...event, kind: "edited", oldValue: statement.replaces } : event,
    ];
    const isWhole = rows.length < KEY_ROWS;
    const states = isWhole
      ? changedStates(rows, advance(rows, folded, now, events))
      : new Map([[row.id, UNFOLDED]]);
    await this.#keys.apply(among, states, tx);
    if (isWhole) await this.#index.indexClaims(among, [{ key, claims: folded.claims }], tx);
    await this.#facts.addEvents(scope, events, tx);
    if (!("replaces" in statement)) await this.#compare(scope, row, others, now, tx);
    return verdict;
  }

  /**
   * Appends statements of one scope to keys that have none yet, each to its own, in a few statements whatever their
   * number. The caller holds the keys' locks and has looked.
   */
  async appendAlone(statements: readonly Statement[], now: Date, tx: Tx): Promise<void> {
    const [first] = statements;
    if (!first) return;
    const { scope } = first;
    const rows = statements.map((statement) => {
      const row = rowOf(statement, now);
      const state = stateAlone(row, now);
      return { ...row, identityId: statement.identityId, state };
    });
    await this.#facts.insertAll(scope, rows, tx);
    const folded = rows.map(({ identityId: _, ...row }) => ({
      key: { scope, agentId: row.agentId, key: row.key },
      row,
      claims: fold([row], [], now).claims,
    }));
    await this.#index.indexClaims(scope, folded, tx);
    const events = folded.map(({ row, claims }) => {
      const { verdict, others } = verdictOn(row, { claims, expired: [] });
      return eventOf(row, verdict, others, row.writtenBy);
    });
    await this.#facts.addEvents(scope, events, tx);
  }

  /** In other words it may be the same: a model is asked after the commit, which need not be there for the answer. */
  async #compare({ orgId }: FactScope, row: FactRow, others: readonly Claim[], now: Date, tx: Tx) {
    if (!this.#comparisons) return;
    if (!others.some(({ value }) => mayMeanTheSame(row.value, value))) return;
    const job = { kind: COMPARE_JOB, dedupeKey: row.id, orgId, payload: { factId: row.id } };
    await this.#comparisons.enqueue({ ...job, runAt: now }, now, tx);
  }

  /** What was said before. What expired meanwhile leaves first: its end comes before the new statement. */
  async #history(among: Keys, key: Key, now: Date, tx: Tx): Promise<History> {
    const read = async () => (await this.#keys.histories(among, KEY_ROWS, tx))[0];
    const found = await read();
    const isDue = found?.rows.some(({ state }) => state.expiresAt && state.expiresAt <= now);
    if (!isDue) return found ?? { key, rows: [], decisions: [] };
    await this.#consolidation.fold([key], now, tx);
    return (await read()) ?? { key, rows: [], decisions: [] };
  }

  /** The row that this source made before; it has to say the same, and still hold. */
  async #stated(key: Key, sourceMessageId: string, value: unknown, tx: Tx): Promise<StoredFact> {
    const row = await this.#facts.findBySource(key.scope, { ...key, sourceMessageId }, tx);
    if (!row) throw new Error("a conflicting row is not there");
    if (!sameMeaning(row.value, value)) {
      throw new AppError(
        "CONFLICT",
        "this sourceMessageId has stated another value under this key",
        {
          hint: "Values that may coexist get a key each (likes.tea, likes.jazz); a new statement gets its own sourceMessageId.",
        },
      );
    }
    if (row.withdrawnAt !== null) {
      throw new AppError("CONFLICT", "what this sourceMessageId stated was archived", {
        hint: "If it still holds, send it again without sourceMessageId or with that of the new statement.",
      });
    }
    return row;
  }
}

function rowOf(statement: Statement, now: Date): FactRow {
  const { draft, sourceMessageId } = statement;
  return {
    ...draft,
    id: v7(),
    agentId: statement.agentId,
    sourceReason: statement.sourceReason,
    conversation: statement.conversation,
    writtenBy: statement.writtenBy,
    observedAt: statement.observedAt,
    searchText: searchTextOf(draft),
    sourceMessageId: sourceMessageId ?? CALL_SOURCE + v7(),
    createdAt: now,
    withdrawnAt: null,
  };
}

/** The state of a row whose key has no other. One that expired before it was written is left to consolidation. */
function stateAlone(row: FactRow, now: Date): StoredState {
  return statesOf(fold([row], [], now), now).get(row.id) ?? UNFOLDED;
}
