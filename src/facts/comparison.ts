import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { type Embedder, EmbedderFault } from "../embeddings/embedder.ts";
import type { Counts } from "../jobs/handler.ts";
import { RetryLater } from "../jobs/retry-later.ts";
import { type Candidate, candidatesFor, changes } from "./alike.ts";
import type { Consolidation } from "./consolidation.ts";
import { SYSTEM } from "./event.ts";
import type { History, Key } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import type { FactRepository } from "./repository.ts";

export const COMPARE_JOB = "facts.compare";

/** Claims of one key that a job compares its own with: a key with more in dispute needs a person. */
const RIVALS = 10;

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
/** What an operator has to mend is looked at less often. */
const OPERATOR_PAUSE_MS = 3_600_000;

interface Task {
  readonly orgId: string;
  readonly factId: string;
}

interface ComparisonDependencies {
  readonly facts: FactRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Undefined where none is configured: nothing is compared. */
  readonly embedder: Embedder | undefined;
}

/** Finds that a contested value says the same as another one in other words, and writes that down as a decision. */
export class Comparison {
  readonly #deps: ComparisonDependencies;
  #pausedUntil = 0;
  #faults = 0;

  constructor(deps: ComparisonDependencies) {
    this.#deps = deps;
  }

  /**
   * Compares one row's claim with those that contest it. Asks the embedder between two transactions; the second looks
   * again, so that it is safe to run twice, late, or while somebody writes.
   *
   * @throws RetryLater while the embedder has no answer, however long that takes
   */
  async run(task: Task, signal: AbortSignal): Promise<Counts> {
    const { transactions, clock, embedder } = this.#deps;
    if (!embedder) return {};
    const now = clock();
    if (now.getTime() < this.#pausedUntil) throw notYet(new Date(this.#pausedUntil));
    const candidates = await transactions.tenant(task, async (tx) => {
      const history = await this.#historyOf(task, tx);
      return history ? candidatesFor(history, task.factId, now).slice(0, RIVALS) : [];
    });
    if (candidates.length === 0) return {};
    const alike = await this.#alike(embedder, candidates, signal);
    if (alike.length === 0) return { compared: candidates.length };
    const merged = await transactions.tenant(task, (tx) => this.#judge(task, alike, tx));
    return { compared: candidates.length, merged };
  }

  async #historyOf({ orgId, factId }: Task, tx: Tx): Promise<History | undefined> {
    const found = await this.#deps.facts.find({ orgId }, factId, tx);
    if (!found) return undefined;
    const { scope, row } = found;
    const key: Key = { scope, agentId: row.agentId, key: row.key };
    const among = { orgId, name: scope.name, keys: [key] };
    await this.#deps.keys.lock(among, tx);
    return (await this.#deps.keys.histories(among, undefined, tx))[0];
  }

  async #alike(
    embedder: Embedder,
    candidates: readonly Candidate[],
    signal: AbortSignal,
  ): Promise<Candidate[]> {
    const texts = [...new Set(candidates.flatMap(({ pairs }) => pairs.flat()))];
    try {
      const { mergeThreshold } = await embedder.model(signal);
      const vectors = await embedder.embed(texts, "background", signal);
      this.#faults = 0;
      const vectorOf = new Map(texts.map((text, at) => [text, vectors[at] ?? null]));
      return candidates.filter(({ pairs }) =>
        pairs.every(
          ([a, b]) => cosine(vectorOf.get(a) ?? null, vectorOf.get(b) ?? null) >= mergeThreshold,
        ),
      );
    } catch (error) {
      if (signal.aborted) throw notYet(this.#deps.clock());
      if (!(error instanceof EmbedderFault)) throw error;
      throw notYet(this.#pause(error), error);
    }
  }

  async #judge(task: Task, alike: readonly Candidate[], tx: Tx): Promise<number> {
    const { keys, consolidation, clock } = this.#deps;
    const now = clock();
    let merged = 0;
    for (const { factId, otherId } of alike) {
      const history = await this.#historyOf(task, tx);
      const judgement = { factId, replacedBy: otherId, at: now };
      if (!history || !changes(history, judgement)) continue;
      if (!candidatesFor(history, task.factId, now).some((one) => one.otherId === otherId))
        continue;
      await keys.decide(history.key, { ...judgement, kind: "alike", actor: SYSTEM }, tx);
      await consolidation.fold([history.key], now, tx);
      merged++;
    }
    return merged;
  }

  /** An outage is one for all: each job would wait for it by itself. @returns when to come back */
  #pause({ retryAfterMs = 0, needsOperator }: EmbedderFault): Date {
    const now = this.#deps.clock().getTime();
    const wait = Math.min(FIRST_PAUSE_MS * 2 ** this.#faults, LONGEST_PAUSE_MS);
    this.#faults++;
    this.#pausedUntil = now + Math.max(needsOperator ? OPERATOR_PAUSE_MS : wait, retryAfterMs);
    return new Date(this.#pausedUntil);
  }
}

/** Nothing is wrong with the job: no attempt is counted, or an outage of a day would be its last. */
function notYet(at: Date, cause?: unknown): RetryLater {
  return new RetryLater({ at, countsAsAttempt: false, cause });
}

/** Of vectors of length 1. What a model can say nothing of is like nothing. */
function cosine(a: Float32Array | null, b: Float32Array | null): number {
  if (!a || !b || a.length !== b.length) return -1;
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
