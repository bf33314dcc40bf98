import { z } from "zod";
import { canonicalJson } from "../canonical-json.ts";

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

/** How far a message of ours came, as platforms tell it. */
export type DeliveryStatus = "sent" | "failed" | "delivered" | "read";

const DIRECTIONS = ["inbound", "outbound"] as const;
export const Direction = z.enum(DIRECTIONS);
export type Direction = z.infer<typeof Direction>;

/** The same text as PostgreSQL can store it: U+0000 and lone surrogates become U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** JSON object as it came from a platform, minus secrets, quoted replies and file bytes. */
export type Payload = { readonly [key: string]: unknown };

/** The person on the other side of a channel, as the platform names them. */
export interface Sender {
  /** Unique inside the channel (adapters whose ids are unique only inside one account prefix them). */
  readonly externalId: string;
  /** The number that the platform shows for the same person; another person may get it some day. */
  readonly phoneNumber?: string;
  readonly username?: string;
  readonly firstName?: string;
}

/** Whether two versions of a message differ in nothing but the date of the edit. */
export function isSameContent(one: Payload, other: Payload): boolean {
  const [a, b] = [one, other].map((payload) => canonicalJson({ ...payload, edit_date: null }));
  return a === b;
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
