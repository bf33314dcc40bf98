import { type Payload, storable } from "../chat/message.ts";

/** Telegram nests rich messages 16 deep; far below what makes a JSON parser or PostgreSQL give up. */
const MAX_DEPTH = 200;

/** Other people's messages inside a message. A copy here would survive the erasure of its author. */
const QUOTED = new Set([
  "reply_to_message",
  "external_reply",
  "reply_to_story",
  "pinned_message",
  "checklist_message",
  "giveaway_message",
  "poll_message",
  "suggested_post_message",
]);

/** Identity documents with their decryption secret, and links that let whoever reads them join a chat. */
const SECRETS = new Set(["passport_data", "invite_link"]);

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own and not null, so that a key such as `constructor` is never found on the prototype. */
export function has(record: Record<string, unknown>, key: string): boolean {
  return Object.hasOwn(record, key) && record[key] !== null && record[key] !== undefined;
}

/**
 * A copy of any parsed JSON that can be stored and shown: every string and key storable, no secrets, of
 * quoted messages and quotes only the ids and positions, nothing below 200 levels (null in its place).
 * File ids stay; Telegram never sends file bytes. Never throws.
 */
export function cleanJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1));
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), cleanField(key, item, depth + 1)]),
  );
}

function cleanField(key: string, value: unknown, depth: number): unknown {
  if (SECRETS.has(key)) return "[removed]";
  if (QUOTED.has(key)) return idsOf(value);
  if (key === "quote") return pick(value, ["position", "is_manual"]);
  return cleanJson(value, depth);
}

/** Which message is meant, without a word of it: ids of the message (or story) and its chat. */
export function idsOf(value: unknown): Payload | null {
  if (!isRecord(value)) return null;
  const ids = pick(value, ["message_id", "ephemeral_message_id", "id"]);
  const chat = pick(value.chat, ["id"]);
  return chat ? { ...ids, chat } : ids;
}

function pick(value: unknown, keys: readonly string[]): Payload | null {
  if (!isRecord(value)) return null;
  const kept = keys.filter((key) => Number.isFinite(value[key]) || typeof value[key] === "boolean");
  return Object.fromEntries(kept.map((key) => [key, value[key]]));
}
