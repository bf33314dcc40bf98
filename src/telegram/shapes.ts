import { z } from "zod";
import { isRecord } from "../chat/payload.ts";

/**
 * Telegram promises at most 52 significant bits, and JavaScript holds 53. Beyond that a number may have lost digits on
 * its way through JSON and name somebody else, so such an id is no id.
 */
const TelegramId = z.int();

/** An object of these fields. One that is null says no more than one that is missing: many serialisers write both so. */
function object<S extends z.core.$ZodShape>(shape: S) {
  return z.preprocess(withoutNulls, z.object(shape));
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Opaque identifiers go into unique indexes, whose rows must stay small; the platform's are under 64 characters. */
const Token = z.string().max(128);

const name = z
  .string()
  .transform((value) => value.slice(0, 256).toWellFormed())
  .optional()
  .catch(undefined);
/**
 * Unix seconds between 14 August 2013, when the service began, and the end of Telegram's int32. Anything else is no
 * date: 0 marks a message that the bot may not see.
 */
const seconds = z
  .int()
  .min(1_376_438_400)
  .max(2 ** 31 - 1)
  .optional()
  .catch(undefined);
const flag = z.boolean().optional().catch(undefined);

const UserShape = object({
  id: TelegramId.positive(),
  is_bot: flag,
  first_name: name,
  username: name,
});
export type UserShape = z.infer<typeof UserShape>;

const ChatShape = object({
  id: TelegramId,
  type: z.string().catch("unknown"),
  first_name: name,
  username: name,
});
export type ChatShape = z.infer<typeof ChatShape>;

/** The update as a whole; everything else in it is found by key. */
export const UpdateShape = z.looseObject({ update_id: z.int().nonnegative() });

/**
 * What the archive reads from a message; the rest stays in the payload. A wrong type in a field that
 * says *whose* or *which* message this is fails the parse: a guess would file it under the wrong person.
 */
export const MessageShape = object({
  message_id: TelegramId.nonnegative(),
  message_thread_id: TelegramId.optional(),
  is_topic_message: flag,
  direct_messages_topic: object({ topic_id: TelegramId, user: UserShape.optional() }).optional(),
  business_connection_id: Token.optional(),
  guest_query_id: Token.optional(),
  ephemeral_message_id: TelegramId.optional(),
  chat: ChatShape,
  from: UserShape.optional(),
  sender_chat: z.unknown().optional(),
  sender_business_bot: z.unknown().optional(),
  date: seconds,
  edit_date: seconds,
  migrate_to_chat_id: TelegramId.optional(),
  migrate_from_chat_id: TelegramId.optional(),
});
export type MessageShape = z.infer<typeof MessageShape>;

/** The little that updates other than messages have in common; what cannot be read is absent. */
export const EventShape = object({
  id: Token.optional().catch(undefined),
  chat: ChatShape.optional().catch(undefined),
  from: UserShape.optional().catch(undefined),
  user: UserShape.optional().catch(undefined),
  message_id: TelegramId.nonnegative().optional().catch(undefined),
  message: MessageShape.optional().catch(undefined),
  chat_instance: Token.optional().catch(undefined),
  business_connection_id: Token.optional().catch(undefined),
  message_thread_id: TelegramId.optional().catch(undefined),
  date: seconds,
});
export type EventShape = z.infer<typeof EventShape>;

export const DeletedShape = object({
  business_connection_id: Token.min(1),
  chat: ChatShape,
  message_ids: z.array(TelegramId.nonnegative()),
});

export const ChatMemberShape = object({
  chat: ChatShape,
  from: UserShape,
  new_chat_member: object({ status: z.string() }),
});

/** Unix seconds as a date. */
export function toDate(seconds: number | undefined): Date | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000);
}
