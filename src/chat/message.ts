import { z } from "zod";

const MESSAGE_KINDS = [
  "text",
  "photo",
  "video",
  "voice",
  "audio",
  "document",
  "sticker",
  "animation",
  "video_note",
  "live_photo",
  "location",
  "venue",
  "contact",
  "poll",
  "dice",
  "story",
  "game",
  "paid_media",
  "checklist",
  "rich",
  "service",
  "reaction",
  "callback",
  "unsupported",
] as const;
export const MessageKind = z.enum(MESSAGE_KINDS);
export type MessageKind = z.infer<typeof MessageKind>;

const DIRECTIONS = ["inbound", "outbound"] as const;
export const Direction = z.enum(DIRECTIONS);
export type Direction = z.infer<typeof Direction>;

/** JSON object as it came from a platform, minus secrets, quoted replies and file bytes. */
export type Payload = { readonly [key: string]: unknown };

/** The person on the other side of a channel, as the platform names them. */
export interface Sender {
  /** Unique inside the channel (adapters whose ids are unique only inside one account prefix them). */
  readonly externalId: string;
  readonly username?: string;
  readonly firstName?: string;
}

/** One platform message, normalised by a channel adapter and ready to be archived. */
export interface ChannelMessage {
  readonly direction: Direction;
  readonly kind: MessageKind;
  /** Text or caption; null where the message has none. Well formed, without U+0000. */
  readonly text: string | null;
  /** The platform's own date. */
  readonly sentAt: Date;
  /** Set on an edit: the platform's date of it. */
  readonly editedAt?: Date;
  /** Conversation on the platform, e.g. a chat id. */
  readonly conversationId: string;
  /** Unique per (channel, account): redeliveries and edits of one message carry the same value. */
  readonly platformMessageId: string;
  /** Absent for channel posts and pseudo-senders: archived without a person. */
  readonly sender?: Sender;
  /** The text is somebody else's words (a forward): archived, never a claim of the sender. */
  readonly forwarded: boolean;
  readonly payload: Payload;
}
