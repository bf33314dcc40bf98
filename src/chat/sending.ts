import type { Principal } from "../access/principal.ts";
import { type Clock, wholeSecond } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { IdempotencyService } from "../idempotency/service.ts";
import type { SearchIndex } from "../search/service.ts";
import type { TurnAssignment } from "../turns/assignment.ts";
import { answerOf, type Failure, withFailure } from "./failed-sending.ts";
import { type Addressed, describeImage } from "./outgoing.ts";
import { findRecipient, type Recipient, type RecipientDependencies } from "./recipient.ts";
import type { ChatRepository } from "./repository.ts";
import { type OutgoingMessage, type OutgoingPart, SendFailure, type SentPart } from "./sender.ts";

export interface SendingDependencies extends RecipientDependencies {
  readonly chat: ChatRepository;
  readonly index: SearchIndex;
  readonly turns: TurnAssignment;
  readonly idempotency: IdempotencyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

interface ArchivedPart extends OutgoingPart {
  readonly id: string;
}

interface Call {
  readonly tool: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

interface Begun {
  readonly recipient: Recipient;
  readonly parts: readonly ArchivedPart[];
}

export interface SentMessages {
  /** In the order of the text. */
  readonly messages: { id: string; platformMessageId: string }[];
}

/**
 * Sends messages to people. Each is archived before it is sent, so that none is lost, and as `sent` or `failed` once that
 * is known; the sending itself holds no transaction.
 */
export class Sending {
  readonly #deps: SendingDependencies;

  constructor(deps: SendingDependencies) {
    this.#deps = deps;
  }

  /** @throws AppError that says what was sent and what was not, or that it is unknown */
  async send(
    principal: Principal,
    tool: string,
    { idempotencyKey, ...to }: Addressed,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SentMessages> {
    const { sending, idempotency, transactions } = this.#deps;
    const { image, ...words } = message;
    const body = { ...to, ...words, ...(image && { image: describeImage(image) }) };
    const call: Call = { tool, key: idempotencyKey, body };
    let begun: Begun | undefined;
    const { ids } = await transactions.tenant(principal, (tx) => {
      begun = undefined;
      return idempotency.once(principal, call, tx, async () => {
        begun = await this.#writeAhead(principal, to, message, tx);
        return { ids: begun.parts.map(({ id }) => id) };
      });
    });
    if (begun) await this.#sendAll(principal, call, begun, signal);
    return {
      messages: answerOf(
        await transactions.tenant(principal, (tx) => sending.progress(principal, ids, tx)),
      ),
    };
  }

  async #writeAhead(
    principal: Principal,
    to: Addressed,
    message: OutgoingMessage,
    tx: Tx,
  ): Promise<Begun> {
    const { chat, clock } = this.#deps;
    const recipient = await findRecipient(this.#deps, principal, to, tx);
    const { account, userId, identityId, conversationId, sender } = recipient;
    const now = clock();
    const parts: ArchivedPart[] = [];
    for (const part of sender.compose(message)) {
      const id = await chat.insert(
        principal,
        {
          userId,
          identityId,
          storeId: account.storeId,
          conversationId,
          channel: account.channel,
          account: account.account,
          direction: "outbound",
          kind: part.kind,
          text: part.text,
          payload: JSON.stringify(part.payload),
          platformMessageId: null,
          deliveryStatus: "sending",
          // Searched once it was sent.
          searchDue: false,
          sentAt: wholeSecond(now),
          archivedAt: now,
        },
        tx,
      );
      if (!id) throw new Error("insert returned no row");
      parts.push({ ...part, id });
    }
    return { recipient, parts };
  }

  async #sendAll(
    principal: Principal,
    call: Call,
    { recipient, parts }: Begun,
    signal: AbortSignal,
  ): Promise<void> {
    const { token } = recipient.account;
    let { conversationId } = recipient;
    for (const [at, part] of parts.entries()) {
      let sent: SentPart;
      try {
        sent = await part.send({ conversationId, token }, signal);
      } catch (error) {
        await this.#fail(principal, call, recipient, { failed: parts.slice(at), at, error });
        if (error instanceof SendFailure) return;
        throw error;
      }
      conversationId = sent.conversationId;
      await this.#noteSent(principal, recipient, part.id, sent).catch((cause: unknown) => {
        throw unnoted(cause);
      });
    }
  }

  #noteSent(principal: Principal, recipient: Recipient, id: string, sent: SentPart): Promise<void> {
    const { chat, sending, users, index, turns, transactions, clock } = this.#deps;
    const { externalId, account: sender, conversationId } = recipient;
    const { channel, account } = sender;
    return transactions.tenant(principal, async (tx) => {
      // Linked to another person meanwhile: this one's id means that one now.
      const { userId } = await users.findToChange(principal, recipient.userId, tx);
      await index.holdPeople(principal, [userId], tx);
      const { platformMessageId, sentAt } = sent;
      // A platform that tells us of our own messages can be faster than its answer to us.
      const names = [platformMessageId];
      const echoed = await chat.delete(principal, { channel, account }, names, tx);
      const answer = { channel, account, conversationId, userId, sentAt, receivedAt: clock() };
      const placed = await turns.answered(principal, answer, tx);
      if (!(await sending.setSent(principal, id, { ...sent, ...placed }, tx))) return;
      await index.indexMessages(principal, [id], tx);
      if (echoed.length > 0) await index.indexAfterDeletion(principal, [userId], tx);
      if (recipient.wasUnreachable)
        await users.setReachable(principal, { channel, externalId }, null, tx);
    });
  }

  #fail(
    principal: Principal,
    call: Call,
    { account: { channel }, externalId }: Recipient,
    fault: { failed: readonly ArchivedPart[]; at: number; error: unknown },
  ): Promise<void> {
    const { sending, users, idempotency, transactions, clock } = this.#deps;
    const { failed, at, error } = fault;
    const known = error instanceof SendFailure ? error : undefined;
    const reason: Failure = known ?? { code: "INTERNAL", message: "a fault of the server" };
    return transactions.tenant(principal, async (tx) => {
      for (const { id, payload } of failed) {
        await sending.setFailed(principal, id, withFailure(JSON.stringify(payload), reason), tx);
      }
      if (known?.isUnreachable)
        await users.setReachable(principal, { channel, externalId }, clock(), tx);
      // Nobody got anything: the same call may try again.
      if (at === 0 && known?.isCertain) await idempotency.release(principal, call, tx);
    });
  }
}

function unnoted(cause: unknown): AppError {
  return new AppError("UNAVAILABLE", "this was sent, but the archive could not note it", {
    cause,
    hint: "Do not send it again.",
  });
}
