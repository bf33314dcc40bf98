import { type ExportedMessage, MAX_IMPORTED_BYTES } from "../chat/imported.ts";
import { type MessageKind, type Payload, type Sender, storable } from "../chat/message.ts";
import { has, isRecord } from "../chat/payload.ts";
import { cleanUpdate } from "../telegram/payload.ts";
import { personOf } from "../telegram/speaker.ts";
import { type Chat, isId, nameOf } from "./telegram-chat.ts";

/** Why a message is not imported. */
export type SkipReason =
  | "no message"
  | "no usable id"
  | "no date"
  | "too large"
  | "a chat of another kind"
  | "saved messages (import them with --saved-messages)"
  | "nobody knows whose chat with the bot it is (say it with --me)";

export type Read = { readonly message: ExportedMessage } | { readonly skipped: SkipReason };

const MEDIA: Readonly<Record<string, MessageKind>> = {
  sticker: "sticker",
  video_message: "video_note",
  voice_message: "voice",
  animation: "animation",
  video_file: "video",
  audio_file: "audio",
};
/** In the order in which they must be asked: a venue also has a location, and everything may have a file. */
const FIELDS: readonly (readonly [field: string, kind: MessageKind])[] = [
  ["contact_information", "contact"],
  ["poll", "poll"],
  ["todo_list", "checklist"],
  ["dice", "dice"],
  ["game_title", "game"],
  ["place_name", "venue"],
  ["location_information", "location"],
  ["paid_stars_amount", "paid_media"],
  ["photo", "photo"],
  ["invoice_information", "service"],
  ["giveaway_information", "service"],
  ["giveaway_results", "service"],
  ["file", "document"],
];
/** When Telegram began; nothing is older, and 0 stands for no date. */
const FIRST_SECOND = 1_376_438_400;
const LAST_SECOND = 2 ** 31 - 1;

/** @param exporter the Telegram id of whoever exported it; undefined where nobody knows yet */
export function readExported(exported: unknown, chat: Chat, exporter: number | undefined): Read {
  if (!isRecord(exported)) return { skipped: "no message" };
  const { id } = exported;
  if (!isId(id) || id === 0) return { skipped: "no usable id" };
  const sentAt = dateOf(exported.date_unixtime, exported.date);
  if (!sentAt) return { skipped: "no date" };
  const said = speakerOf(exported, chat, exporter);
  if (!said) return { skipped: "nobody knows whose chat with the bot it is (say it with --me)" };
  // The same words a second time.
  const { text_entities: _, ...rest } = exported;
  const payload = cleanUpdate(rest) as Payload;
  const text = textOf(exported.text);
  const edited = dateOf(exported.edited_unixtime, exported.edited);
  if (Buffer.byteLength(JSON.stringify([payload, text])) > MAX_IMPORTED_BYTES)
    return { skipped: "too large" };
  return {
    message: {
      ...said,
      kind: kindOf(exported, text),
      text: text === "" ? null : text,
      sentAt,
      ...(edited && { editedAt: edited }),
      conversationId: chat.conversationId,
      platformMessageId: chat.platformMessageId(id),
      // A deleted account that was forwarded from has null for a name.
      forwarded: Object.hasOwn(exported, "forwarded_from"),
      payload,
    },
  };
}

/** The id in `user123`; of channels and of groups that write as themselves there is none. */
export function userIdOf(fromId: unknown): number | undefined {
  const digits = typeof fromId === "string" ? /^user(\d{1,16})$/.exec(fromId)?.[1] : undefined;
  return digits !== undefined && isId(Number(digits)) ? Number(digits) : undefined;
}

function speakerOf(
  message: Record<string, unknown>,
  chat: Chat,
  exporter: number | undefined,
): Pick<ExportedMessage, "direction" | "sender"> | undefined {
  // A service message has an actor where others have a sender.
  const from = userIdOf(message.from_id ?? message.actor_id);
  const name = nameOf(message.from ?? message.actor);
  switch (chat.kind) {
    case "bot": {
      const isOurs = from === chat.id;
      const person = exporter ?? (isOurs ? undefined : from);
      if (person === undefined) return undefined;
      const sender = senderOf(person, from === person ? name : undefined);
      return { direction: isOurs ? "outbound" : "inbound", ...sender };
    }
    case "person":
      return {
        direction: from === chat.id ? "inbound" : "outbound",
        ...senderOf(chat.id, chat.name),
      };
    case "saved":
      return { direction: "inbound", ...senderOf(exporter ?? from, name) };
    case "group":
      if (from !== undefined && from === exporter) return { direction: "outbound" };
      return { direction: "inbound", ...senderOf(from, name) };
    case "channel":
      return { direction: "inbound" };
  }
}

function senderOf(id: number | undefined, name: string | undefined): { sender?: Sender } {
  const person = id === undefined ? undefined : personOf({ id, first_name: name });
  return person ? { sender: person } : {};
}

function kindOf(message: Record<string, unknown>, text: string): MessageKind {
  if (message.type === "service") return "service";
  if (message.type !== "message") return "unsupported";
  const media = message.media_type;
  if (typeof media === "string" && Object.hasOwn(MEDIA, media)) return MEDIA[media] ?? "document";
  const field = FIELDS.find(([name]) => has(message, name));
  if (field) return field[1];
  return text === "" ? "unsupported" : "text";
}

/** A text is a string, or strings and marked pieces in turn. */
function textOf(text: unknown): string {
  const pieces = Array.isArray(text) ? text : [text];
  const words = pieces.map((piece: unknown) => (isRecord(piece) ? piece.text : piece));
  return storable(words.filter((word) => typeof word === "string").join(""));
}

/** Exports from before 2021 have but the local time of whoever exported, which is read as if it were UTC. */
function dateOf(unix: unknown, local: unknown): string | undefined {
  const seconds =
    unix === undefined && typeof local === "string" && /^\d{4}-\d\d-\d\dT[\d:]{8}$/.test(local)
      ? Date.parse(`${local}Z`) / 1000
      : Number(unix ?? Number.NaN);
  if (!Number.isInteger(seconds) || seconds < FIRST_SECOND || seconds > LAST_SECOND)
    return undefined;
  return new Date(seconds * 1000).toISOString();
}
