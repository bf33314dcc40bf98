import type { ChannelMessage } from "../../src/chat/message.ts";
import { type ParsedUpdate, parseUpdate } from "../../src/telegram/update.ts";

/** 1 March 2026, 10:00 UTC, and a moment later, when the webhook got it. */
export const DATE = 1_772_359_200;
export const SENT = new Date(DATE * 1000);
export const RECEIVED = new Date((DATE + 3) * 1000);

export const ana = { id: 5_000_000_001, is_bot: false, first_name: "Ana", username: "ana_shops" };
export const ben = { id: 7_999_999_999, is_bot: false, first_name: "Ben" };
export const shopBot = {
  id: 6_100_000_001,
  is_bot: true,
  first_name: "Shop",
  username: "shop_bot",
};
export const owner = { id: 5_000_000_077, is_bot: false, first_name: "Olga" };

export const anaChat = { id: ana.id, type: "private", first_name: "Ana", username: "ana_shops" };
export const group = { id: -1_002_471_352_452, type: "supergroup", title: "Tea lovers" };
export const forum = { ...group, is_forum: true };
export const channel = { id: -1_001_832_400_000, type: "channel", title: "Shop news" };

export const photo = [
  { file_id: "AgACs", file_unique_id: "s", width: 90, height: 60, file_size: 1200 },
  { file_id: "AgACx", file_unique_id: "x", width: 1280, height: 853, file_size: 98_000 },
];

/** A message of Ana in her private chat with the bot. */
export function message(fields: object = {}): Record<string, unknown> {
  return { message_id: 30, date: DATE, chat: anaChat, from: ana, ...fields };
}

/** A message of Ben in a group. */
export function inGroup(fields: object = {}): Record<string, unknown> {
  return message({ chat: group, from: ben, ...fields });
}

export function update(value: object, updateId = 1001): ParsedUpdate {
  return parseUpdate({ update_id: updateId, ...value }, RECEIVED);
}

/** The archived row of an update. */
export function archived(value: object, updateId = 1001): ChannelMessage {
  const [first] = update(value, updateId).actions;
  if (first?.type !== "message" && first?.type !== "raw") throw new Error("nothing to archive");
  return first.message;
}
