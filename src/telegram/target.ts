/** Whom a Bot API method addresses. */
export interface Target {
  readonly chat_id: number;
  readonly message_thread_id?: number;
  readonly business_connection_id?: string;
}

const CONVERSATION = /^(?:business:([^:]{1,128}):)?(-?[1-9]\d{0,15})(?::([1-9]\d{0,15}))?$/;

/** The target of a conversation as the archive names it; undefined where nothing can be sent: guest chats, events. */
export function targetOf(conversationId: string): Target | undefined {
  const [, connection, chat, thread] = CONVERSATION.exec(conversationId) ?? [];
  if (chat === undefined || !Number.isSafeInteger(Number(chat))) return undefined;
  return {
    chat_id: Number(chat),
    ...(thread !== undefined && { message_thread_id: Number(thread) }),
    ...(connection !== undefined && { business_connection_id: connection }),
  };
}

/** The archive's name of a target's conversation. */
export function conversationOf(target: Target): string {
  const { chat_id, message_thread_id: thread, business_connection_id: connection } = target;
  const chat = thread === undefined ? `${chat_id}` : `${chat_id}:${thread}`;
  return connection === undefined ? chat : `business:${connection}:${chat}`;
}
