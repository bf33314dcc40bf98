import type { ChannelMessage, Payload } from "../chat/message.ts";
import { has } from "../chat/payload.ts";
import { conversationIdOf, platformMessageIdOf } from "./identity.ts";
import { kindOf } from "./kind.ts";
import { flattenRichMessage } from "./rich-text.ts";
import { type MessageShape, toDate } from "./shapes.ts";
import { speakerOf } from "./speaker.ts";

/** The last two are from before Bot API 7.0; self-hosted API servers of that age still send them. */
const FORWARD_MARKS = ["forward_origin", "forward_from", "forward_date"];

const TOPIC_EVENTS = [
  "forum_topic_created",
  "forum_topic_edited",
  "forum_topic_closed",
  "forum_topic_reopened",
];

interface Arrival {
  readonly receivedAt: Date;
  readonly isEdit: boolean;
  /** Names the update; see `platformMessageIdOf`. */
  readonly updateKey: string;
}

/**
 * One Telegram message as the archive keeps it. `payload` is the cleaned platform object of which `shape` is the checked part.
 * A message without a usable date gets the time of receipt.
 */
export function readMessage(
  payload: Payload,
  shape: MessageShape,
  arrival: Arrival,
): ChannelMessage {
  const edited = toDate(shape.edit_date) ?? (arrival.isEdit ? arrival.receivedAt : undefined);
  return {
    ...speakerOf(shape),
    kind: kindOf(payload),
    text: textOf(payload),
    sentAt: toDate(shape.date) ?? arrival.receivedAt,
    ...(edited && { editedAt: edited }),
    conversationId: conversationIdOf(withTopicMark(payload, shape)),
    platformMessageId: platformMessageIdOf(shape, arrival.updateKey),
    forwarded: FORWARD_MARKS.some((key) => has(payload, key)),
    payload,
  };
}

function textOf(message: Payload): string | null {
  if (has(message, "rich_message")) return flattenRichMessage(message.rich_message);
  const words = message.text ?? message.caption;
  return typeof words === "string" ? words : null;
}

/** Telegram closes a topic with a message that names the thread but does not say that it is a topic. */
function withTopicMark(payload: Payload, shape: MessageShape): MessageShape {
  return TOPIC_EVENTS.some((key) => has(payload, key))
    ? { ...shape, is_topic_message: true }
    : shape;
}
