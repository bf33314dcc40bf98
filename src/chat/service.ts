import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { FactService } from "../facts/service.ts";
import type { IdempotencyService } from "../idempotency/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { readBefore } from "./cursor.ts";
import {
  DEFAULT_HISTORY_LIMIT,
  type HistoryPage,
  MAX_HISTORY_LIMIT,
  toPage,
  type UserContext,
} from "./history.ts";
import type { ChannelMessage } from "./message.ts";
import { optsOut } from "./opt-out.ts";
import type { ChatRepository, NewMessage } from "./repository.ts";
import type { ArchivedTurn, Turn } from "./turn.ts";
import type { ChannelAction, ChannelUpdate } from "./update.ts";

export interface ChatDependencies {
  readonly chat: ChatRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly facts: FactService;
  readonly idempotency: IdempotencyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** New people of a channel may be remembered at once, rather than wait for approval. */
  readonly autoApprove: boolean;
}

export class ChatService {
  readonly #deps: ChatDependencies;

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
  }

  /**
   * Archives one webhook delivery in one transaction; a redelivery changes nothing.
   *
   * @returns false for a redelivery
   */
  archive(update: ChannelUpdate): Promise<boolean> {
    const { chat, transactions } = this.#deps;
    return transactions.tenant(update, async (tx) => {
      const { channel, account, dedupeKey: updateId, receivedAt } = update;
      const fresh = await chat.noteUpdate(update, { channel, account, updateId, receivedAt }, tx);
      if (!fresh) return false;
      for (const action of update.actions) await this.#perform(update, action, tx);
      return true;
    });
  }

  async #perform(update: ChannelUpdate, action: ChannelAction, tx: Tx): Promise<void> {
    const { chat, facts, users } = this.#deps;
    switch (action.type) {
      case "message":
      case "raw":
        await this.#archiveMessage(
          update,
          action.message,
          action.type === "message" && action.isEdit,
          tx,
        );
        return;
      case "deleted": {
        const ids = await chat.delete(update, update, action.platformMessageIds, tx);
        await facts.eraseBySource(update, ids, tx);
        return;
      }
      case "blocked":
      case "unblocked": {
        const ref = { channel: update.channel, externalId: action.person.externalId };
        await users.setReachable(update, ref, action.type === "blocked" ? action.at : null, tx);
        return;
      }
      case "migrated":
        // The archive keeps each message under the conversation it was sent in.
        return;
    }
  }

  async #archiveMessage(
    update: ChannelUpdate,
    message: ChannelMessage,
    isEdit: boolean,
    tx: Tx,
  ): Promise<void> {
    const { chat, users, autoApprove } = this.#deps;
    if (isEdit && (await this.#edit(update, message, tx))) return;
    const person = message.sender
      ? await users.ensure(
          update,
          { channel: update.channel, externalId: message.sender.externalId },
          {
            username: message.sender.username,
            firstName: message.sender.firstName,
            status: autoApprove ? "approved" : "pending",
          },
          tx,
        )
      : null;
    await chat.insert(update, toRow(update, message, person), tx);
  }

  /** @returns false when the message was never archived: the edit is then its first version here */
  async #edit(update: ChannelUpdate, message: ChannelMessage, tx: Tx): Promise<boolean> {
    const { chat, facts } = this.#deps;
    const known = await chat.findForEdit(
      update,
      { ...update, platformMessageId: message.platformMessageId },
      tx,
    );
    if (!known) return false;
    const editedAt = message.editedAt ?? update.receivedAt;
    // Deliveries can overtake each other: an older edit must not undo a newer one.
    if (known.editedAt && editedAt < known.editedAt) return true;
    if (known.text === message.text) return true;
    const content = {
      kind: message.kind,
      text: message.text,
      payload: JSON.stringify(message.payload),
      optedOut: optsOut(message.text),
      editedAt,
      at: update.receivedAt,
    };
    await chat.edit(update, known.id, content, tx);
    await facts.archiveBySource(update, [known.id], tx);
    return true;
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

  /** Archives a user's message and the assistant's answer for a runtime that has no webhook. */
  archiveTurn(principal: Principal, turn: Turn): Promise<ArchivedTurn> {
    const { chat, users, orgs, idempotency, transactions, clock } = this.#deps;
    const { idempotencyKey, ...body } = turn;
    const now = clock();
    const sentAt = turn.observedAt && turn.observedAt < now ? turn.observedAt : now;
    return transactions.tenant(principal, (tx) =>
      idempotency.once(
        principal,
        { tool: "archive_turn", key: idempotencyKey, body },
        tx,
        async () => {
          const person = await users.findOrCreate(principal, turn.userId, tx);
          const store = turn.storeId
            ? await orgs.findStore(principal, turn.storeId, tx)
            : undefined;
          const shared = {
            userId: person.userId,
            identityId: person.identityId,
            storeId: store?.id ?? null,
            conversationId: turn.conversationId ?? person.userId,
            channel: turn.channel,
            account: "",
            kind: "text",
            platformMessageId: null,
            // An opt-out takes the whole turn: the answer may repeat what the person asked to leave out.
            optedOut: optsOut(turn.userMessage),
            sentAt,
            archivedAt: now,
          };
          const agent = { agentId: agentOf(principal, turn.agentId) };
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
          return { userMessageId, assistantMessageId, sentAt: sentAt.toISOString() };
        },
      ),
    );
  }
}

function toRow(
  update: ChannelUpdate,
  message: ChannelMessage,
  person: { userId: string; identityId: string | null } | null,
): NewMessage {
  return {
    userId: person?.userId ?? null,
    identityId: person?.identityId ?? null,
    storeId: update.storeId ?? null,
    conversationId: message.conversationId,
    channel: update.channel,
    account: update.account,
    direction: message.direction,
    kind: message.kind,
    text: message.text,
    payload: JSON.stringify(message.payload),
    platformMessageId: message.platformMessageId,
    forwarded: message.forwarded,
    optedOut: message.direction === "inbound" && optsOut(message.text),
    sentAt: message.sentAt,
    archivedAt: update.receivedAt,
    editedAt: message.editedAt ?? null,
  };
}
