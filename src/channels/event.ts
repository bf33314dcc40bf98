import type { ArchivedMessage } from "../chat/service.ts";
import type { RecallAnswer } from "../recall/answer.ts";
import type { PersonWithIdentities } from "../users/person.ts";
import type { DeliveryRow } from "./outbox-repository.ts";

/** What an event tells of, read as it is sent. */
export interface Told {
  readonly delivery: DeliveryRow;
  readonly user: PersonWithIdentities;
  /** null for events that are about none, or about one that is erased. */
  readonly message: ArchivedMessage | null;
}

/** The memory of who asks, for the agent's prompt. */
export interface EventMemory extends Pick<RecallAnswer, "stableBlock" | "memoryBlock" | "etag"> {
  /** Others read along: what is known of this person must not be said aloud. */
  readonly private: boolean;
  readonly userId: string;
}

/** Platforms send files as ids, but some payloads quote whole menus and forms. */
const MAX_PAYLOAD_BYTES = 8 * 1024;

/**
 * Whether nobody else reads a conversation. Channels call one with a single person by that person's id: alone, before a
 * topic (`<id>:<topic>`), as another account's (`business:<connection>:<id>`), or on WhatsApp behind the number that was
 * written to (`<number>:<id>`). In doubt others read along.
 */
export function isPrivate(
  { channel, conversationId }: { readonly channel: string; readonly conversationId: string },
  externalId: string | undefined,
): boolean {
  if (externalId === undefined) return false;
  if (conversationId === externalId || conversationId.startsWith(`${externalId}:`)) return true;
  const [realm, first, ...chat] = conversationId.split(":");
  if (channel === "whatsapp") return [first, ...chat].join(":") === externalId;
  return realm === "business" && chat.join(":") === externalId;
}

/** The request's body, in Standard Webhooks' form. */
export function eventBody(told: Told, memory: EventMemory | null): string {
  const { event, createdAt } = told.delivery;
  const data = dataOf(told, memory);
  return JSON.stringify({ type: event, timestamp: createdAt.toISOString(), data });
}

/** Of the identities the one that the message came by. */
export function senderOf({ user, message }: Told) {
  return user.identities.find(({ id }) => id === message?.identityId);
}

function dataOf(told: Told, memory: EventMemory | null): object {
  const { delivery, user, message } = told;
  const { channel, account, messageId } = delivery;
  if (delivery.event === "message.deleted") {
    return { message: { id: messageId, channel, account }, user: { id: user.id } };
  }
  const person = {
    id: user.id,
    username: user.username,
    firstName: user.firstName,
    role: user.role,
  };
  if (!message) {
    const identities = user.identities.map(({ channel, externalId }) => ({ channel, externalId }));
    return { user: { ...person, identities } };
  }
  const sender = senderOf(told);
  return {
    message: {
      id: message.id,
      kind: message.kind,
      text: message.text,
      sentAt: message.sentAt.toISOString(),
      editedAt: message.editedAt?.toISOString() ?? null,
      forwarded: message.forwarded,
      optedOut: message.optedOut,
      channel,
      account,
      conversationId: message.conversationId,
      payload:
        Buffer.byteLength(message.payload) <= MAX_PAYLOAD_BYTES
          ? (JSON.parse(message.payload) as unknown)
          : null,
    },
    user: {
      ...person,
      identity: sender ? { channel: sender.channel, externalId: sender.externalId } : null,
    },
    conversation: {
      id: message.conversationId,
      isPrivate: isPrivate(message, sender?.externalId),
    },
    memory,
  };
}
