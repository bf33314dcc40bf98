import { type ChannelMessage, type Payload, storable } from "../chat/message.ts";
import { digestOf, has, isRecord } from "../chat/payload.ts";
import type { ChannelAction } from "../chat/update.ts";
import { wholeSecond } from "../clock.ts";
import { EVENTS, readEvent } from "./event.ts";
import { businessMessageIds } from "./identity.ts";
import { readMessage } from "./message.ts";
import { cleanUpdate } from "./payload.ts";
import { ChatMemberShape, DeletedShape, MessageShape, UpdateShape } from "./shapes.ts";

/** Updates whose value is a message. */
const MESSAGES = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "business_message",
  "edited_business_message",
  "guest_message",
];

export interface ParsedUpdate {
  /** Telegram's id, or null where the body had none. */
  readonly updateId: number | null;
  /**
   * One value for all deliveries of an update, unique inside one account: a hash of the content, behind the update id
   * if it has one. The id alone is not enough: it starts again at random after a silent week, and with another bot.
   */
  readonly dedupeKey: string;
  /** The update's key (`message`, `callback_query`, …), null where there is none. Safe to log. */
  readonly updateKind: string | null;
  /** Exactly one `message` or `raw` action, first, so that every update can be seen; then its consequences. */
  readonly actions: readonly ChannelAction[];
}

interface Arrival {
  readonly receivedAt: Date;
  /** Names the update where nothing in it has an id of its own. */
  readonly updateKey: string;
}

/**
 * What an update means to the archive. Pure; accepts any JSON value and never throws. The second of `receivedAt` stands
 * in for the dates that Telegram leaves out (a pressed button) or sends as 0.
 */
export function parseUpdate(raw: unknown, receivedAt: Date): ParsedUpdate {
  const update = cleanUpdate(raw);
  if (!isRecord(update)) return unreadable({ value: update }, receivedAt);
  const identified = UpdateShape.safeParse(update);
  const updateId = identified.success ? identified.data.update_id : null;
  const dedupeKey =
    updateId === null ? hashOf(update) : `${updateId}:${digestOf(update).slice(0, 32)}`;
  const key = keyOf(update);
  const arrival = { receivedAt: wholeSecond(receivedAt), updateKey: dedupeKey };
  const actions =
    messageActions(key, update, arrival) ??
    eventActions(key, update, arrival) ??
    rawActions(key, update, arrival);
  return { updateId, dedupeKey, updateKind: key && loggable(key), actions };
}

/** A body that is no JSON, or too long to be Telegram's: `text` is what was kept of its `bytes`. */
export function unreadableUpdate(
  body: { readonly text: string; readonly bytes: number },
  receivedAt: Date,
): ParsedUpdate {
  return unreadable({ body: storable(body.text), bytes: body.bytes }, receivedAt);
}

function unreadable(payload: Payload, receivedAt: Date): ParsedUpdate {
  const dedupeKey = hashOf(payload);
  const arrival = { receivedAt: wholeSecond(receivedAt), updateKey: dedupeKey };
  const message = readEvent("unreadable", "unsupported", {}, arrival, payload);
  const actions = [{ type: "raw", reason: "unreadable", message } as const];
  return { updateId: null, dedupeKey, updateKind: null, actions };
}

function messageActions(key: string | null, update: Payload, arrival: Arrival) {
  if (key === null || !MESSAGES.includes(key)) return undefined;
  const shape = MessageShape.safeParse(update[key]);
  if (!shape.success) return undefined;
  const isEdit = key.startsWith("edited_");
  const payload = update[key] as Payload;
  const message = readMessage(payload, shape.data, { ...arrival, isEdit });
  return [{ type: "message", message, isEdit } as const, ...migrations(shape.data)];
}

function migrations(message: MessageShape): ChannelAction[] {
  const here = message.chat.id;
  const from = message.migrate_from_chat_id ?? (message.migrate_to_chat_id && here);
  const to = message.migrate_to_chat_id ?? here;
  if (from === undefined) return [];
  return [{ type: "migrated", fromConversationId: `${from}`, toConversationId: `${to}` }];
}

function eventActions(
  key: string | null,
  update: Payload,
  arrival: Arrival,
): ChannelAction[] | undefined {
  const kind = EVENTS.get(key ?? "");
  const event = update[key ?? ""];
  if (key === null || !kind || !isRecord(event)) return undefined;
  const message = readEvent(key, kind, event, arrival);
  const kept = { type: "message", message, isEdit: false } as const;
  if (key === "my_chat_member") return [kept, ...reachability(event, message)];
  if (key !== "deleted_business_messages") return [kept];
  const deleted = DeletedShape.safeParse(event);
  if (!deleted.success) return undefined;
  const { business_connection_id: connection, chat, message_ids: ids } = deleted.data;
  return [
    kept,
    { type: "deleted", platformMessageIds: businessMessageIds(connection, chat.id, ids) },
  ];
}

/** In a private chat Telegram reports the bot's own membership only when the person stops or restarts it. */
function reachability(event: Payload, message: ChannelMessage): ChannelAction[] {
  const change = ChatMemberShape.safeParse(event);
  if (!change.success || change.data.chat.type !== "private" || !message.sender) return [];
  const { status } = change.data.new_chat_member;
  if (status !== "kicked" && status !== "member") return [];
  const type = status === "kicked" ? "blocked" : "unblocked";
  return [{ type, person: message.sender, at: message.sentAt }];
}

function rawActions(key: string | null, update: Payload, arrival: Arrival): ChannelAction[] {
  const known = key !== null && (MESSAGES.includes(key) || EVENTS.has(key));
  const value = update[key ?? ""];
  const event = isRecord(value) ? value : {};
  const name = key === null ? "empty" : loggable(key);
  const message = readEvent(name, "unsupported", event, arrival, update);
  return [{ type: "raw", reason: known ? "malformed" : "unknown", message }];
}

/** Telegram sets one key beside the id; a known one wins over whatever a later version may add beside it. */
function keyOf(update: Payload): string | null {
  const keys = Object.keys(update).filter((key) => key !== "update_id");
  const set = keys.filter((key) => has(update, key));
  const known = (key: string) => MESSAGES.includes(key) || EVENTS.has(key);
  return set.find(known) ?? set[0] ?? keys.find(known) ?? keys[0] ?? null;
}

/** Part of ids and log lines, so it must be short and hold nothing that a person wrote. */
function loggable(key: string): string {
  return /^[a-z_]{1,64}$/.test(key) ? key : "other";
}

function hashOf(content: Payload): string {
  return `sha256:${digestOf(content)}`;
}
