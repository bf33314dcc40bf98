import type { Direction, Sender } from "../chat/message.ts";
import { isRecord } from "../chat/payload.ts";
import type { ChatShape, MessageShape, UserShape } from "./shapes.ts";

/**
 * Senders that stand for a chat: the service account that forwards a linked channel's posts, "Group" (every
 * anonymous admin of every group) and "Channel" (everybody who writes as a channel). A memory for one
 * of them would mix strangers.
 */
const PSEUDO_SENDERS = new Set([777_000, 1_087_968_824, 136_817_688]);

export interface Speaker {
  readonly direction: Direction;
  /** The person on the other side, also when our side speaks to them. Absent: nobody in particular. */
  readonly sender?: Sender;
}

/** The person behind an account or a private chat, if it is a person. */
export function personOf(user: UserShape | ChatShape | undefined): Sender | undefined {
  if (!user || user.id <= 0 || PSEUDO_SENDERS.has(user.id)) return undefined;
  if ("is_bot" in user && user.is_bot) return undefined;
  return {
    externalId: `${user.id}`,
    ...(user.username && { username: user.username }),
    ...(user.first_name && { firstName: user.first_name }),
  };
}

/**
 * Who speaks to whom. Outbound is what our own side says: the owner of a connected business account or a bot on
 * their behalf, the channel in its direct messages, a bot in its own private chat. What other bots, channels
 * and anonymous admins say is inbound and nobody's.
 */
export function speakerOf(message: MessageShape): Speaker {
  const partner = partnerOf(message);
  const sender = personOf(partner);
  if (sender && isOurSide(message, sender.externalId)) return { direction: "outbound", sender };
  const author = isRecord(message.sender_chat) ? undefined : personOf(message.from);
  return author ? { direction: "inbound", sender: author } : { direction: "inbound" };
}

/** The one person that a conversation is with; groups have none, and a guest bot is called into chats of others. */
function partnerOf(message: MessageShape): UserShape | ChatShape | undefined {
  if (message.direct_messages_topic) return message.direct_messages_topic.user;
  return message.chat.type === "private" && !message.guest_query_id ? message.chat : undefined;
}

function isOurSide(message: MessageShape, partnerId: string): boolean {
  if (isRecord(message.sender_business_bot)) return true;
  if (message.direct_messages_topic && isRecord(message.sender_chat)) return true;
  if (!message.from || `${message.from.id}` === partnerId) return false;
  return Boolean(
    message.business_connection_id || message.direct_messages_topic || message.from.is_bot,
  );
}
