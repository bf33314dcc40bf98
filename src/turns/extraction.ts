import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { FactService } from "../facts/service.ts";
import type { Counts } from "../jobs/handler.ts";
import { RetryLater } from "../jobs/retry-later.ts";
import {
  type ExtractionAnswer,
  type Extractor,
  ExtractorFault,
  MAX_TOKENS,
} from "../llm/extractor.ts";
import { readAnswer } from "./answer.ts";
import { checkDrafts } from "./drafts.ts";
import { type ReaderDependencies, type ReadyTurn, TurnReader } from "./reader.ts";
import { dayOf, nextDay, Pause, retryAt } from "./schedule.ts";
import { sourceIdOf, WAITS_FOR_TOMORROW } from "./turn.ts";

/** Counts for the operator; outcomes and reasons are of closed sets. */
interface ExtractionMetrics {
  extraction(outcome: string): void;
  droppedDrafts(reason: string, count: number): void;
  extractionTokens(direction: "input" | "output", count: number): void;
}

interface ExtractionDependencies extends ReaderDependencies {
  readonly facts: FactService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly metrics: ExtractionMetrics;
}

/** One turn to learn from, and which attempt at it this is. */
export interface ExtractionTask {
  readonly orgId: string;
  readonly turnId: string;
  readonly attempt: number;
}

type Tokens = Pick<ExtractionAnswer, "inputTokens" | "outputTokens">;
const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0 };

/** What one reserved call is booked on. */
interface Booking {
  readonly task: ExtractionTask;
  readonly day: string;
}

/** Learns facts from closed turns. A turn is learned from once, however often its job runs and in however many processes. */
export class Extraction {
  readonly #deps: ExtractionDependencies;
  readonly #reader: TurnReader;
  readonly #pause = new Pause();

  constructor(deps: ExtractionDependencies) {
    this.#deps = deps;
    this.#reader = new TurnReader(deps);
  }

  /**
   * Asks the extractor between two transactions: the first reserves a turn of the day's limit, the second stores facts,
   * turn and tokens together, or nothing where the turn changed meanwhile.
   *
   * @throws RetryLater while the turn is open, over the daily limit or during an outage; after a failed attempt
   */
  async run(task: ExtractionTask, signal: AbortSignal): Promise<Counts> {
    const { transactions, clock, extractor, metrics } = this.#deps;
    const now = clock();
    const pausedUntil = this.#pause.enter(now);
    if (pausedUntil) throw notYet(pausedUntil);
    const ready = await transactions.tenant(task, (tx) => this.#prepare(task, now, tx));
    if (ready instanceof Date) throw notYet(ready);
    if (ready === "skipped") metrics.extraction("skipped");
    if (typeof ready === "string" || !extractor) return {};
    const booking = { task, day: dayOf(now) };
    const answer = await this.#ask(extractor, ready, booking, signal);
    return this.#store(booking, ready, answer, extractor.model, signal);
  }

  /** The last attempt failed: the turn is laid aside, visible and replayable. */
  async giveUp(orgId: string, turnId: string): Promise<void> {
    const { transactions, turns, clock, metrics } = this.#deps;
    await transactions.tenant({ orgId }, async (tx) => {
      const turn = await turns.lock({ orgId }, turnId, tx);
      if (turn?.state !== "closed" && turn?.state !== "open") return;
      const changes = { reason: turn.reason ?? "gave-up", closedAt: turn.closedAt ?? clock() };
      await turns.update({ orgId }, turnId, { state: "dead", ...changes }, tx);
    });
    metrics.extraction("dead");
  }

  /** @returns when to come back, or a turn that a call is reserved for */
  async #prepare(
    task: ExtractionTask,
    now: Date,
    tx: Tx,
  ): Promise<Date | "over" | "skipped" | ReadyTurn> {
    const { turns } = this.#deps;
    const reading = await this.#reader.read(task, task.turnId, now, tx);
    if (reading.is === "open") return reading.until;
    if (reading.is !== "ready") return reading.is;
    const { ready } = reading;
    if (await turns.reserve(task, dayOf(now), ready.dailyLimit, tx)) return ready;
    await turns.update(task, task.turnId, { reason: WAITS_FOR_TOMORROW }, tx);
    return nextDay(now);
  }

  async #ask(
    extractor: Extractor,
    ready: ReadyTurn,
    booking: Booking,
    signal: AbortSignal,
  ): Promise<Tokens & { readonly found: readonly unknown[] }> {
    let tokens = NO_TOKENS;
    try {
      const answer = await extractor.extract(ready.prompt, signal);
      this.#pause.end();
      tokens = answer;
      this.#count(tokens);
      return { ...answer, found: readAnswer(answer) };
    } catch (error) {
      throw await this.#failed(error, booking, tokens, signal);
    }
  }

  /** Books a call that brought nothing. @returns what the job ends with */
  async #failed(
    error: unknown,
    { task, day }: Booking,
    tokens: Tokens,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { transactions, turns, clock, metrics } = this.#deps;
    const fault = error instanceof ExtractorFault ? error : undefined;
    const now = clock();
    if (fault?.isOfProvider) this.#pause.begin(fault, now);
    await transactions.tenant(task, async (tx) => {
      const turn = await turns.lock(task, task.turnId, tx);
      // Answers are paid for, readable or not; what brought none leaves the day's turn to another one.
      const used = { ...tokens, turns: tokens === NO_TOKENS ? -1 : 0 };
      await turns.addUsage(task, day, used, tx);
      if (turn?.state !== "closed") return;
      const reason = fault?.code ?? turn.reason;
      await turns.update(task, turn.id, { reason, ...sum(turn, tokens) }, tx);
    });
    if (signal.aborted) return notYet(now);
    metrics.extraction(fault?.code ?? "failed");
    const at = retryAt(task.attempt, fault, now);
    return new RetryLater({ at, countsAsAttempt: true, cause: error });
  }

  async #store(
    { task, day }: Booking,
    asked: ReadyTurn,
    answer: Tokens & { readonly found: readonly unknown[] },
    model: string,
    signal: AbortSignal,
  ): Promise<Counts> {
    const { transactions, turns, clock, metrics } = this.#deps;
    const { inputTokens, outputTokens } = answer;
    const now = clock();
    const storing = transactions.tenant(task, async (tx) => {
      await turns.addUsage(task, day, { turns: 0, inputTokens, outputTokens }, tx);
      const reading = await this.#reader.read(task, task.turnId, now, tx);
      if (reading.is !== "ready") return "over";
      const { ready } = reading;
      if (ready.version !== asked.version) return "changed";
      const { stored: facts, dropped } = await this.#learn(ready, answer.found, tx);
      await turns.update(
        task,
        task.turnId,
        {
          state: "extracted",
          reason: null,
          extractedAt: now,
          model,
          ...sum(ready.turn, answer),
          factCount: facts,
          dropped: JSON.stringify(dropped),
        },
        tx,
      );
      return { facts, dropped };
    });
    // The tokens that it booked were rolled back with the facts, and are paid for all the same.
    const stored = await storing.catch(async (error: unknown) => {
      throw await this.#failed(error, { task, day }, { inputTokens, outputTokens }, signal);
    });
    if (stored === "changed") throw notYet(now);
    if (stored === "over") return {};
    metrics.extraction("extracted");
    for (const [reason, count] of Object.entries(stored.dropped))
      metrics.droppedDrafts(reason, count);
    const dropped = Object.values(stored.dropped).reduce((total, count) => total + count, 0);
    return { facts: stored.facts, dropped, inputTokens, outputTokens };
  }

  /** @returns how many facts were stored, and what was dropped or left out, by reason */
  async #learn(ready: ReadyTurn, found: readonly unknown[], tx: Tx) {
    const { turn, isOperator, leftOut, cut } = ready;
    const { orgId, agentId, userId, storeId, channel, account, conversationId, isCorrection } =
      turn;
    const checked = checkDrafts(found, ready, {
      isOperator,
      hasStore: storeId !== null,
      isCorrection,
    });
    const dropped = new Map(Object.entries(checked.dropped));
    if (leftOut > 0) dropped.set("messages-left-out", leftOut);
    if (cut > 0) dropped.set("messages-cut", cut);
    let stored = 0;
    for (const { message, drafts } of checked.stated) {
      const learned = await this.#deps.facts.learn(
        {
          ...{ orgId, agentId, userId, storeId, channel, account, conversationId },
          identityId: message.identityId,
          sourceMessageId: sourceIdOf(message),
          observedAt: message.sentAt,
          sourceReason: isCorrection ? "user-correction" : null,
        },
        drafts,
        tx,
      );
      stored += learned.stored;
      for (const [reason, count] of Object.entries(learned.dropped)) {
        dropped.set(reason, (dropped.get(reason) ?? 0) + count);
      }
    }
    return { stored, dropped: Object.fromEntries(dropped) };
  }

  #count({ inputTokens, outputTokens }: Tokens): void {
    this.#deps.metrics.extractionTokens("input", inputTokens);
    this.#deps.metrics.extractionTokens("output", outputTokens);
  }
}

/** A turn may cost several calls: attempts, and each edit of it. */
function sum(turn: { inputTokens: number | null; outputTokens: number | null }, tokens: Tokens) {
  return {
    inputTokens: Math.min((turn.inputTokens ?? 0) + tokens.inputTokens, MAX_TOKENS),
    outputTokens: Math.min((turn.outputTokens ?? 0) + tokens.outputTokens, MAX_TOKENS),
  };
}

/** Nothing went wrong: no attempt is counted. */
function notYet(at: Date): RetryLater {
  return new RetryLater({ at, countsAsAttempt: false });
}
