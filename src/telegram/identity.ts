import type { EventShape, MessageShape } from "./shapes.ts";

type Place = Pick<
  MessageShape,
  "message_thread_id" | "is_topic_message" | "direct_messages_topic" | "business_connection_id"
> &
  Pick<MessageShape, "guest_query_id" | "chat">;

/**
 * The conversation in which an answer closes a turn; unique inside one account, ≤ 200 characters.
 *
 * - `<chat>`: a private chat, or a group. In a group without topics a reply thread also has a
 *   `message_thread_id`, yet stays in the group's conversation: people answer across threads.
 * - `<chat>:<thread>`: a topic of a forum or of a private chat, where several talks run side by side.
 * - `business:<connection>:<chat>` and `guest:<chat>`: Telegram says that these chats are independent of
 *   the bot's own chat with the same id.
 */
export function conversationIdOf(place: Place): string {
  const thread = place.is_topic_message
    ? place.message_thread_id
    : place.direct_messages_topic?.topic_id;
  const chat = thread === undefined ? `${place.chat.id}` : `${place.chat.id}:${thread}`;
  return realmOf(place) + chat;
}

/**
 * One value for one message, kept by its redeliveries and edits; unique inside one account, ≤ 200 characters.
 * Chat ids are part of it because message ids count per chat and start again at 1 when a group becomes a
 * supergroup. `updateKey` tells messages apart that have no id of their own yet.
 */
export function platformMessageIdOf(message: MessageShape, updateKey: string): string {
  const guest = message.guest_query_id ? `${message.guest_query_id}:` : "";
  const chat = `${realmOf(message)}${guest}${message.chat.id}`;
  if (message.message_id !== 0) return `${chat}:${message.message_id}`;
  // An ephemeral id is used again after its message expired; its date, which edits keep, tells the two apart.
  if (message.ephemeral_message_id !== undefined) {
    return `${chat}:ephemeral:${message.ephemeral_message_id}:${message.date ?? 0}`;
  }
  return `${chat}:unsent:${updateKey}`;
}

/** The ids that `platformMessageIdOf` gave to messages of a business account. */
export function businessMessageIds(
  connection: string,
  chatId: number,
  messageIds: readonly number[],
): string[] {
  return messageIds.map((id) => `business:${connection}:${chatId}:${id}`);
}

/** Where something other than a message happened. `kind` is the update's key. */
export function eventConversationIdOf(event: EventShape, kind: string): string {
  if (event.message) return conversationIdOf(event.message);
  if (event.chat) {
    const isTopic = event.message_thread_id !== undefined;
    return conversationIdOf({ ...event, chat: event.chat, is_topic_message: isTopic });
  }
  if (event.chat_instance) return `inline:${event.chat_instance}`;
  return `update:${kind}`;
}

function realmOf(place: Pick<Place, "business_connection_id" | "guest_query_id">): string {
  if (place.business_connection_id) return `business:${place.business_connection_id}:`;
  return place.guest_query_id ? "guest:" : "";
}
