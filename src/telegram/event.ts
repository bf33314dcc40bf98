import type { ChannelMessage, MessageKind, Payload, Sender } from "../chat/message.ts";
import { has } from "../chat/payload.ts";
import { eventConversationIdOf } from "./identity.ts";
import { idsOf } from "./payload.ts";
import { EventShape, toDate } from "./shapes.ts";
import { personOf } from "./speaker.ts";

/** Updates that carry no message of their own (Bot API 10.0). */
export const EVENTS: ReadonlyMap<string, MessageKind> = new Map([
  ["message_reaction", "reaction"],
  ["message_reaction_count", "reaction"],
  ["callback_query", "callback"],
  ["business_connection", "service"],
  ["deleted_business_messages", "service"],
  ["stopped_message_generation", "service"],
  ["inline_query", "service"],
  ["chosen_inline_result", "service"],
  ["shipping_query", "service"],
  ["pre_checkout_query", "service"],
  ["purchased_paid_media", "service"],
  ["poll", "service"],
  ["poll_answer", "service"],
  ["my_chat_member", "service"],
  ["chat_member", "service"],
  ["chat_join_request", "service"],
  ["chat_boost", "service"],
  ["removed_chat_boost", "service"],
  ["managed_bot", "service"],
  ["subscription", "service"],
]);

interface Arrival {
  readonly receivedAt: Date;
  /** Names the update: an event has no message id of its own, and a person can react twice in a second. */
  readonly updateKey: string;
}

/**
 * A row of the archive for something that is not a message. `event` is the cleaned value of the update's
 * key `name`; whatever of it cannot be read is left out, so this accepts any object. `payload` is what the
 * archive keeps, `event` itself unless told.
 */
export function readEvent(
  name: string,
  kind: MessageKind,
  event: Payload,
  arrival: Arrival,
  payload: Payload = event,
): ChannelMessage {
  const shape = EventShape.parse(event);
  const sender = subjectOf(event, shape);
  return {
    direction: "inbound",
    kind,
    text: null,
    sentAt: toDate(shape.date) ?? arrival.receivedAt,
    conversationId: eventConversationIdOf(shape, name),
    platformMessageId: eventIdOf(name, shape, arrival.updateKey),
    ...(sender && { sender }),
    forwarded: false,
    payload: name === "callback_query" ? withoutMessage(payload) : payload,
  };
}

function eventIdOf(name: string, shape: EventShape, updateKey: string): string {
  return name === "callback_query" && shape.id ? `callback:${shape.id}` : `${name}:${updateKey}`;
}

/** A named sender whose id cannot be trusted is nobody, not the person whose chat it is. */
function subjectOf(event: Payload, shape: EventShape): Sender | undefined {
  if (has(event, "from") || has(event, "user")) return personOf(shape.from ?? shape.user);
  return shape.chat?.type === "private" ? personOf(shape.chat) : undefined;
}

/** The message under a pressed button is one that the archive has already, or another person's. */
function withoutMessage(payload: Payload): Payload {
  return "message" in payload ? { ...payload, message: idsOf(payload.message) } : payload;
}
