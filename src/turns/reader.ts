import type { ChatService } from "../chat/service.ts";
import type { Tx } from "../db/tenant.ts";
import type { Extractor } from "../llm/extractor.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { promptOf, type TurnPrompt } from "./prompt.ts";
import type { TurnRepository, TurnRow } from "./repository.ts";
import {
  closedAs,
  MAX_TURN_MESSAGES,
  type SkipReason,
  TURN_IDLE_MS,
  type TurnMessage,
} from "./turn.ts";

interface Scope {
  readonly orgId: string;
}

/** A turn that is to be learned from. */
export interface ReadyTurn extends TurnPrompt {
  readonly turn: TurnRow;
  readonly isOperator: boolean;
  /** Turns that the org may have extracted today. */
  readonly dailyLimit: number;
  /** Messages of the person beyond those that count. */
  readonly leftOut: number;
  /** Differs where another reading would ask for something else: an edit, an erased message, an opt-out. */
  readonly version: string;
}

export type Reading =
  | { readonly is: "ready"; readonly ready: ReadyTurn }
  /** More may come until then. */
  | { readonly is: "open"; readonly until: Date }
  | { readonly is: "skipped" }
  /** It was learned from or skipped before, or its person is erased. */
  | { readonly is: "over" };

export interface ReaderDependencies {
  readonly turns: TurnRepository;
  readonly chat: ChatService;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly extractor: Extractor | undefined;
  /** Of orgs that have none of their own; 0 = nothing is extracted. */
  readonly dailyLimit: number;
}

/** Looks at a turn under its lock: twice for each extraction, before the call and before its result is stored. */
export class TurnReader {
  readonly #deps: ReaderDependencies;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
  }

  /** Closes what nobody answered, and skips what nothing may be learned from. */
  async read(scope: Scope, turnId: string, now: Date, tx: Tx): Promise<Reading> {
    const { turns } = this.#deps;
    const turn = await turns.lock(scope, turnId, tx);
    if (!turn || turn.state === "extracted" || turn.state === "skipped") return { is: "over" };
    if (turn.state === "open") {
      const until = new Date(turn.lastMessageAt.getTime() + TURN_IDLE_MS);
      if (until > now) return { is: "open", until };
    }
    const found = await this.#look(scope, turn, tx);
    const closedAt = turn.closedAt ?? now;
    if (typeof found !== "string") {
      await turns.update(scope, turnId, { state: "closed", closedAt }, tx);
      return { is: "ready", ready: found };
    }
    // A correction that nobody learned from waits for a person.
    const isPending = found === "extraction-off" && turn.isCorrection;
    const state = isPending ? "closed" : "skipped";
    await turns.update(scope, turnId, { state, reason: found, closedAt }, tx);
    return { is: "skipped" };
  }

  async #look(scope: Scope, turn: TurnRow, tx: Tx): Promise<ReadyTurn | SkipReason> {
    const { chat, users, orgs, extractor } = this.#deps;
    const { reason } = closedAs(turn);
    if (reason) return reason;
    const standing = await users.standing(scope, turn.userId, tx);
    if (standing?.status !== "approved") return "not-approved";
    if ((await orgs.memoryFor(scope, turn.userId, tx)) === "off") return "memory-off";
    const { messages, inbound } = await chat.ofTurn(scope, turn.id, tx);
    if (messages.some(({ optedOut }) => optedOut)) return "opted-out";
    const isOperator = standing.role === "operator";
    const corrected = await this.#corrected(scope, turn, messages, tx);
    const prompt = promptOf({ messages, isOperator, corrected });
    if (!prompt) return "nothing-said";
    const dailyLimit = (await orgs.extractionDailyLimit(scope, tx)) ?? this.#deps.dailyLimit;
    if (!extractor || dailyLimit === 0) return "extraction-off";
    const version = JSON.stringify([
      isOperator,
      messages.map(({ id, revision }) => [id, revision]),
    ]);
    const leftOut = Math.max(0, inbound - MAX_TURN_MESSAGES);
    return { ...prompt, turn, isOperator, dailyLimit, leftOut, version };
  }

  async #corrected(scope: Scope, turn: TurnRow, messages: readonly TurnMessage[], tx: Tx) {
    const first = messages.find(({ direction }) => direction === "inbound");
    if (!turn.isCorrection || !first) return undefined;
    const answer = await this.#deps.chat.correctedBy(scope, turn, first.sentAt, tx);
    return answer?.optedOut ? undefined : answer;
  }
}
