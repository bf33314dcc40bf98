import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import { type Clock, wholeSecond } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { IdempotencyService } from "../idempotency/service.ts";
import type { OrgService } from "../orgs/service.ts";
import { correctable } from "../turns/correction.ts";
import type { Conversation, TurnMessage } from "../turns/turn.ts";
import { readBefore } from "./cursor.ts";
import {
  DEFAULT_HISTORY_LIMIT,
  type HistoryPage,
  MAX_HISTORY_LIMIT,
  toPage,
  type UserContext,
} from "./history.ts";
import { corrects, Intake, type IntakeDependencies } from "./intake.ts";
import type { ArchivedMessage, MessageRepository } from "./message-repository.ts";
import { optsOut } from "./opt-out.ts";
import type { Post, PostedOutcome } from "./posted.ts";
import type { Poster } from "./poster.ts";
import { Posting } from "./posting.ts";
import type { ArchivedTurn, Turn } from "./turn.ts";
import type { ChannelUpdate } from "./update.ts";

/** Many more than an extraction counts, of both sides together. */
const TURN_PAGE = 60;

export type { ArchivedMessage } from "./message-repository.ts";

export interface ChatDependencies extends IntakeDependencies {
  readonly messages: MessageRepository;
  readonly orgs: OrgService;
  readonly idempotency: IdempotencyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Lets the runner look for due jobs: an archived message may be forwarded at once. */
  readonly wake: () => void;
}

export class ChatService {
  readonly #deps: ChatDependencies;
  readonly #intake: Intake;
  readonly #posting: Posting;

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
    this.#intake = new Intake(deps);
    this.#posting = new Posting(deps, this.#intake);
  }

  /**
   * Archives one webhook delivery in one transaction; a redelivery changes nothing.
   *
   * @returns false for a redelivery
   */
  async archive(update: ChannelUpdate): Promise<boolean> {
    return (await this.archiveAll(update, [update])) > 0;
  }

  /**
   * Archives what a platform delivers together, of one account: all of it or, when this rejects, nothing.
   *
   * @returns how many of the updates were new
   */
  async archiveAll(
    account: Omit<ChannelUpdate, "dedupeKey" | "actions">,
    updates: readonly Pick<ChannelUpdate, "dedupeKey" | "actions">[],
  ): Promise<number> {
    const { chat, transactions, wake } = this.#deps;
    const { channel, account: name, receivedAt } = account;
    const fresh = await transactions.tenant(account, async (tx) => {
      let fresh = 0;
      for (const { dedupeKey, actions } of updates) {
        const note = { channel, account: name, updateId: dedupeKey, receivedAt };
        if (!(await chat.noteUpdate(account, note, tx))) continue;
        fresh++;
        const update = { ...account, dedupeKey, actions };
        for (const action of actions) await this.#intake.perform(update, action, tx);
      }
      return fresh;
    });
    if (fresh > 0) wake();
    return fresh;
  }

  /** @returns undefined for a message that is not in the org's archive, or not any more */
  message(
    scope: { readonly orgId: string },
    id: string,
    tx: Tx,
  ): Promise<ArchivedMessage | undefined> {
    return this.#deps.messages.find(scope, id, tx);
  }

  /** Archives messages that a program posts, in order, all or none. @throws AppError as `Posting.take` */
  async post(poster: Poster, posts: readonly Post[]): Promise<PostedOutcome[]> {
    const outcomes = await this.#posting.take(poster, posts, this.#deps.clock());
    this.#deps.wake();
    return outcomes;
  }

  /** One page of a person's messages on every channel, both directions. A limit over 500 counts as 500. */
  history(
    principal: Principal,
    userId: string,
    page: { limit?: number | undefined; before?: string | undefined },
  ): Promise<HistoryPage> {
    const { chat, users, transactions } = this.#deps;
    const limit = Math.min(page.limit ?? DEFAULT_HISTORY_LIMIT, MAX_HISTORY_LIMIT);
    return transactions.tenant(principal, async (tx) => {
      const person = await users.find(principal, userId, tx);
      const before = page.before === undefined ? undefined : readBefore(person.userId, page.before);
      const rows = await chat.history(principal, person.userId, { limit: limit + 1, before }, tx);
      return toPage(person.userId, rows, limit);
    });
  }

  /** A person's profile, entries and newest messages, of one snapshot. */
  context(
    principal: Principal,
    userId: string,
    options: { recentLimit: number; keys: readonly string[] | undefined },
  ): Promise<UserContext> {
    const { users, transactions } = this.#deps;
    const recentLimit = Math.min(options.recentLimit, MAX_HISTORY_LIMIT);
    return transactions.tenant(principal, async (tx) => {
      const { user, memory, recent } = await users.context(
        principal,
        userId,
        { ...options, recentLimit },
        tx,
      );
      const page = toPage(user.id, recent, recentLimit);
      return { user, memory, recentMessages: page.messages };
    });
  }

  /** A turn's messages as an extraction reads them, oldest first: the newest of many, and how many there are of the person. */
  async ofTurn(
    scope: { readonly orgId: string },
    turnId: string,
    tx: Tx,
  ): Promise<{ messages: readonly TurnMessage[]; inbound: number }> {
    const { messages, inbound } = await this.#deps.chat.ofTurn(scope, turnId, TURN_PAGE, tx);
    return { messages: messages.reverse(), inbound };
  }

  /** The answer that a turn's first message corrects. */
  correctedBy(
    scope: { readonly orgId: string },
    turn: Conversation & { readonly id: string; readonly userId: string },
    sentAt: Date,
    tx: Tx,
  ): Promise<{ text: string | null; sentAt: Date; optedOut: boolean } | undefined> {
    const span = { ...correctable(sentAt), beforeTurn: turn.id };
    return this.#deps.chat.lastAnswer(scope, turn, span, tx);
  }

  /** Archives a user's message and the assistant's answer for a runtime that has no webhook. */
  archiveTurn(principal: Principal, turn: Turn): Promise<ArchivedTurn> {
    const { chat, users, orgs, index, turns, idempotency, transactions, clock } = this.#deps;
    const { idempotencyKey, ...body } = turn;
    const now = clock();
    const sentAt = turn.observedAt && turn.observedAt <= now ? turn.observedAt : wholeSecond(now);
    return transactions.tenant(principal, (tx) =>
      idempotency.once(
        principal,
        { tool: "archive_turn", key: idempotencyKey, body },
        tx,
        async () => {
          const person = await users.findOrCreate(principal, turn.userId, tx);
          await index.holdPeople(principal, [person.userId], tx);
          const store = turn.storeId
            ? await orgs.findStore(principal, turn.storeId, tx)
            : undefined;
          const agent = { agentId: agentOf(principal, turn.agentId) };
          const place = {
            userId: person.userId,
            storeId: store?.id ?? null,
            conversationId: turn.conversationId ?? person.userId,
            channel: turn.channel,
            account: "",
            sentAt,
          };
          const { turnId, optedOut } = await turns.whole(
            principal,
            {
              ...place,
              ...agent,
              archivedAt: now,
              optsOut: optsOut(turn.userMessage),
              isCorrection: await corrects(chat, principal, place, turn.userMessage, tx),
              thumb: turn.feedback?.thumb ?? null,
              regenerated: turn.feedback?.regenerated ?? false,
            },
            tx,
          );
          const shared = {
            ...place,
            identityId: person.identityId,
            kind: "text",
            platformMessageId: null,
            turnId,
            // An opt-out takes the whole turn: the answer may repeat what the person asked to leave out.
            optedOut,
            searchDue: false,
            archivedAt: now,
          };
          const userMessageId = await chat.insert(
            principal,
            {
              ...shared,
              direction: "inbound",
              text: turn.userMessage,
              payload: JSON.stringify(agent),
            },
            tx,
          );
          const answer = turn.feedback ? { ...agent, feedback: turn.feedback } : agent;
          const assistantMessageId = await chat.insert(
            principal,
            {
              ...shared,
              direction: "outbound",
              text: turn.assistantMessage,
              payload: JSON.stringify(answer),
            },
            tx,
          );
          if (!userMessageId || !assistantMessageId) throw new Error("insert returned no row");
          await index.indexMessages(principal, [userMessageId, assistantMessageId], tx);
          return { userMessageId, assistantMessageId, sentAt: sentAt.toISOString() };
        },
      ),
    );
  }
}
