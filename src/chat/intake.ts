import type { Tx } from "../db/tenant.ts";
import { correctable, opensLikeCorrection } from "../turns/correction.ts";
import { NOWHERE, type Placed, sourceIdOf } from "../turns/turn.ts";
import type { Person } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import { type CodeMessages, SAID_NOTHING } from "./code-messages.ts";
import { type ErasingDependencies, eraseDeleted } from "./erasing.ts";
import { type ChannelMessage, isSameContent, type MessageKind } from "./message.ts";
import { optsOut } from "./opt-out.ts";
import { holdOwners } from "./owners.ts";
import type { ChatRepository, NewMessage } from "./repository.ts";
import type { Senders } from "./senders.ts";
import { tell } from "./tell.ts";
import type { ChannelAction, ChannelUpdate } from "./update.ts";

/** What people do rather than say. */
const NOT_SAID: ReadonlySet<MessageKind> = new Set([
  "service",
  "reaction",
  "callback",
  "unsupported",
]);

export interface IntakeDependencies extends ErasingDependencies {
  readonly senders: Senders;
  readonly users: UserService;
  readonly codes: Pick<CodeMessages, "redeem">;
}

/** Takes in what channels deliver: messages, edits, deletions. */
export class Intake {
  readonly #deps: IntakeDependencies;

  constructor(deps: IntakeDependencies) {
    this.#deps = deps;
  }

  /** Owned by the transaction of the whole delivery. */
  async perform(update: ChannelUpdate, action: ChannelAction, tx: Tx): Promise<void> {
    const { platform, senders, users } = this.#deps;
    switch (action.type) {
      case "message":
      case "raw": {
        const isEdit = action.type === "message" && action.isEdit;
        const { message } = action;
        if (isEdit && (await this.edit(update, message, tx))) return;
        const { sender } = message;
        const person = sender ? await senders.ensure(update, sender, tx) : null;
        await this.archive(update, message, person, tx);
        return;
      }
      case "deleted":
        await this.erase(update, action.platformMessageIds, tx);
        return;
      case "status":
        await platform.setDeliveryStatus(update, { ...update, ...action }, action.status, tx);
        return;
      case "renamed":
        await senders.rename(update, action, tx);
        return;
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

  /** @returns the message's id; undefined where it is archived already */
  async archive(
    update: ChannelUpdate,
    message: ChannelMessage,
    person: Person | null,
    tx: Tx,
  ): Promise<string | undefined> {
    const { chat, users, index, codes, outbox } = this.#deps;
    const linked = person && (await codes.redeem(update, message, person, tx));
    if (linked) return chat.insert(update, toRow(update, message, linked, SAID_NOTHING), tx);
    if (person) await index.holdPeople(update, [person.userId], tx);
    const placed = await this.#place(update, message, person, tx);
    const id = await chat.insert(update, toRow(update, message, person, placed), tx);
    const out =
      placed.turnId !== null && optsOut(message.text)
        ? await chat.optOut(update, placed.turnId, tx)
        : [];
    // In no turn is what a blocked person says: archived, and nothing else.
    const standing =
      person && placed.turnId === null
        ? await users.standing(update, person.userId, tx)
        : undefined;
    if (id !== undefined && person && standing?.status !== "blocked") {
      await index.indexMessages(update, [id, ...out], tx);
      const told = { id, ...person, ...placed, ...message };
      await tell(
        outbox,
        update,
        message.editedAt ? "message.edited" : "message.received",
        told,
        tx,
      );
    }
    return id;
  }

  /** Erases messages, and what was learned from them alone. */
  erase(update: ChannelUpdate, platformMessageIds: readonly string[], tx: Tx): Promise<void> {
    return eraseDeleted(this.#deps, update, platformMessageIds, tx);
  }

  /** Which turn a message belongs to, before it is archived. */
  async #place(
    update: ChannelUpdate,
    message: ChannelMessage,
    person: Person | null,
    tx: Tx,
  ): Promise<Placed> {
    const { chat, turns } = this.#deps;
    const { direction, sentAt, text } = message;
    if (NOT_SAID.has(message.kind)) return NOWHERE;
    // The same message under another delivery's id, e.g. by a second connection, says nothing new.
    if (await chat.isArchived(update, { ...update, ...message }, tx)) return NOWHERE;
    const { channel, account, storeId = null, receivedAt } = update;
    const place = { channel, account, conversationId: message.conversationId };
    if (direction === "outbound") {
      const userId = person?.userId ?? null;
      return turns.answered(update, { ...place, userId, sentAt, receivedAt }, tx);
    }
    if (!person) return NOWHERE;
    const arrival = { ...place, userId: person.userId, sentAt };
    const isCorrection = !message.forwarded && (await corrects(chat, update, arrival, text, tx));
    return turns.arrived(
      update,
      { ...arrival, storeId, receivedAt, optsOut: optsOut(text), isCorrection },
      tx,
    );
  }

  /** @returns undefined when the message was never archived: the edit is then its first version here */
  async edit(
    update: ChannelUpdate,
    message: ChannelMessage,
    tx: Tx,
  ): Promise<{ readonly id: string; readonly outcome: "edited" | "unchanged" } | undefined> {
    const { chat, outbox } = this.#deps;
    await holdOwners(this.#deps, update, [message.platformMessageId], tx);
    const known = await chat.findForEdit(
      update,
      { ...update, platformMessageId: message.platformMessageId },
      tx,
    );
    if (!known) return undefined;
    const { id } = known;
    const editedAt = message.editedAt ?? update.receivedAt;
    // Deliveries can overtake each other: an older edit must not undo a newer one.
    const isOlder = known.editedAt !== null && editedAt < known.editedAt;
    if (isOlder || isSame(known, message)) return { id, outcome: "unchanged" };
    const content = {
      kind: message.kind,
      text: message.text,
      payload: JSON.stringify(message.payload),
      // Once out, always out: other messages of the turn may be out because of this one.
      optedOut: known.optedOut || (known.direction === "inbound" && optsOut(message.text)),
      editedAt,
      at: update.receivedAt,
    };
    const revision = await chat.edit(update, id, content, tx);
    // Another picture or place under the same words: what was learned from them holds.
    if (known.text !== message.text)
      await this.#relearn(update, { ...known, text: message.text, revision }, tx);
    await tell(outbox, update, "message.edited", known, tx);
    return { id, outcome: "edited" };
  }

  /** What was learned from the text before holds no more; of somebody who opts out now nothing is kept. */
  async #relearn(
    update: ChannelUpdate,
    edited: {
      readonly id: string;
      readonly turnId: string | null;
      readonly direction: ChannelMessage["direction"];
      readonly text: string | null;
      readonly revision: number;
    },
    tx: Tx,
  ): Promise<void> {
    const { chat, facts, index, turns } = this.#deps;
    const { id, turnId, direction, text } = edited;
    if (turnId === null || direction === "outbound") {
      await index.indexMessages(update, [id], tx);
      await facts.archiveBySource(update, [id], tx);
      return;
    }
    const at = update.receivedAt;
    // First the turn: an extraction that is being stored ends before, or finds another text than it read.
    await turns.edited(
      update,
      {
        turnId,
        source: sourceIdOf(edited),
        optsOut: optsOut(text),
        learn: update.learn ?? true,
        at,
      },
      tx,
    );
    const out = optsOut(text) ? await chat.optOut(update, turnId, tx) : [];
    await index.indexMessages(update, [id, ...out], tx);
    if (out.length > 0) {
      await facts.eraseBySource(update, out, tx);
    } else {
      await facts.archiveBySource(update, [id], tx);
    }
  }
}

function isSame(
  known: { readonly kind: string; readonly text: string | null; readonly payload: string },
  { kind, text, payload }: ChannelMessage,
): boolean {
  if (known.kind !== kind || known.text !== text) return false;
  return isSameContent(JSON.parse(known.payload), payload);
}

/** Whether a text that opens like a correction has something to correct. */
export async function corrects(
  chat: ChatRepository,
  scope: { readonly orgId: string },
  said: Parameters<ChatRepository["lastAnswer"]>[1] & { readonly sentAt: Date },
  text: string | null,
  tx: Tx,
): Promise<boolean> {
  if (!opensLikeCorrection(text)) return false;
  return (await chat.lastAnswer(scope, said, correctable(said.sentAt), tx)) !== undefined;
}

function toRow(
  update: ChannelUpdate,
  message: ChannelMessage,
  person: Person | null,
  placed: Placed,
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
    turnId: placed.turnId,
    optedOut: placed.optedOut || (message.direction === "inbound" && optsOut(message.text)),
    // Indexed in the same transaction, if it is searched at all.
    searchDue: false,
    sentAt: message.sentAt,
    archivedAt: update.receivedAt,
    editedAt: message.editedAt ?? null,
  };
}
