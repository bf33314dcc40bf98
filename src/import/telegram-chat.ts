import { storable } from "../chat/message.ts";
import type { ExportedChat } from "./telegram-file.ts";

/** Whether the other side is one person, and who speaks for ours. */
type ChatKind = "bot" | "person" | "group" | "channel" | "saved";

const KINDS: Readonly<Record<string, ChatKind>> = {
  bot_chat: "bot",
  personal_chat: "person",
  private_group: "group",
  private_supergroup: "group",
  public_supergroup: "group",
  private_channel: "channel",
  public_channel: "channel",
  saved_messages: "saved",
};
/** Chats whose message ids are the same for everybody who is in them. */
const SHARED_IDS = ["private_supergroup", "public_supergroup", "private_channel", "public_channel"];
/** What the Bot API adds to the bare id of a supergroup or channel, and puts a minus before. */
const SUPERGROUP_BASE = 1_000_000_000_000;

/** A chat as the archive sees it. */
export interface Chat {
  readonly kind: ChatKind;
  readonly id: number;
  readonly name: string | undefined;
  readonly conversationId: string;
  platformMessageId(messageId: number): string;
}

/** @returns undefined for chats of other kinds, e.g. those that Telegram makes for codes and replies */
export function readChat({ name, type, id }: ExportedChat): Chat | undefined {
  const kind = typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind || !isId(id) || id <= 0) return undefined;
  const isShared = SHARED_IDS.includes(String(type));
  const shared = isShared ? `-${SUPERGROUP_BASE + id}` : undefined;
  return {
    kind,
    id,
    name: nameOf(name),
    conversationId: shared ?? `export:${id}`,
    // Messages from before a group became a supergroup have negative ids there, which no bot sees.
    platformMessageId: (messageId) =>
      shared && messageId > 0 ? `${shared}:${messageId}` : `export:${id}:${messageId}`,
  };
}

/** Telegram's ids have 52 bits. Beyond 53 a number lost digits on its way through JSON and may name another thing. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** @returns undefined for accounts that were deleted: the export has null for their names */
export function nameOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  return storable(value.slice(0, 256));
}
