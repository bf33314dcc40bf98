import type { MessageKind, Payload } from "../chat/message.ts";
import { isRecord } from "../chat/payload.ts";
import { withoutAddress } from "./payload.ts";

/** By the message's `type`. What is not here is `unsupported`, as WhatsApp itself calls what its API does not know. */
const KINDS: ReadonlyMap<string, MessageKind> = new Map([
  ["text", "text"],
  ["image", "photo"],
  ["video", "video"],
  ["audio", "audio"],
  ["voice", "voice"],
  ["document", "document"],
  ["sticker", "sticker"],
  ["location", "location"],
  ["contacts", "contact"],
  ["interactive", "callback"],
  ["button", "callback"],
  ["reaction", "reaction"],
  ["order", "service"],
  ["system", "service"],
  ["request_welcome", "service"],
  ["revoke", "service"],
]);

const FILES = ["image", "video", "audio", "voice", "document", "sticker"];

export interface Content {
  readonly kind: MessageKind;
  /** What the person wrote or chose to say; null where there are no words. */
  readonly text: string | null;
  readonly payload: Payload;
}

/** What a cleaned message holds. `message[type]` is the part that its type names. */
export function contentOf(message: Payload, type: string): Content {
  const part = message[type];
  const fields = isRecord(part) ? part : {};
  const text = textOf(type, fields);
  const payload = FILES.includes(type) ? { ...message, [type]: withoutAddress(part) } : message;
  return { kind: kindOf(type, fields, text), text, payload };
}

function kindOf(type: string, part: Record<string, unknown>, text: string | null): MessageKind {
  if (type === "audio" && part.voice === true) return "voice";
  // The words that come with an order are said.
  if (type === "order" && text !== null) return "text";
  return KINDS.get(type) ?? "unsupported";
}

function textOf(type: string, part: Record<string, unknown>): string | null {
  switch (type) {
    case "text":
      return words(part.body);
    case "button":
    case "order":
      return words(part.text);
    case "interactive":
      return chosen(part);
    default:
      return FILES.includes(type) ? words(part.caption) : null;
  }
}

/** The title of the button or row that was chosen, or what a form says of itself. */
function chosen(interactive: Record<string, unknown>): string | null {
  for (const reply of [interactive.button_reply, interactive.list_reply]) {
    if (isRecord(reply)) return words(reply.title);
  }
  return isRecord(interactive.nfm_reply) ? words(interactive.nfm_reply.body) : null;
}

function words(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
