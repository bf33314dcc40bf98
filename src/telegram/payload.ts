import type { Payload } from "../chat/message.ts";
import { cleanJson, isRecord } from "../chat/payload.ts";

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

/**
 * An update as it is kept: no secrets, of quoted messages and quotes only the ids and positions. File ids stay; Telegram
 * never sends file bytes. Never throws.
 */
export function cleanUpdate(update: unknown): unknown {
  return cleanJson(update, (key, value) => {
    if (SECRETS.has(key)) return "[removed]";
    if (QUOTED.has(key)) return idsOf(value);
    return key === "quote" ? pick(value, ["position", "is_manual"]) : undefined;
  });
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
