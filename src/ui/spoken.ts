import type { ArchivedEntry } from "../chat/archived.ts";

const CHANNELS: Readonly<Record<string, string>> = {
  telegram: "Telegram",
  whatsapp: "WhatsApp",
  web: "the web",
};

/** A channel as people call it. */
export function channelName(channel: string): string {
  return Object.hasOwn(CHANNELS, channel) ? (CHANNELS[channel] ?? channel) : channel;
}

const KINDS: Readonly<Record<string, string>> = {
  photo: "Photo",
  video: "Video",
  voice: "Voice message",
  audio: "Audio",
  document: "Document",
  sticker: "Sticker",
  animation: "Animation",
  video_note: "Video message",
  live_photo: "Live photo",
  location: "Location",
  venue: "Place",
  contact: "Contact",
  poll: "Poll",
  dice: "Dice",
  story: "Story",
  game: "Game",
  paid_media: "Paid media",
  checklist: "Checklist",
  rich: "Rich message",
  service: "Notice of the channel",
  reaction: "Reaction",
  callback: "Button pressed",
  unsupported: "Could not be read",
};

/** What a message is beside its words; undefined for plain text. */
export function kindName(kind: string): string | undefined {
  if (kind === "text") return undefined;
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : kind;
}

/** Who says a message, in words. */
export function speakerName({ direction, speaker, userId }: ArchivedEntry): string {
  if (direction === "outbound") return "Assistant";
  return speaker ?? (userId === null ? "Nobody in particular" : "Person");
}

const UP_TO = 1_000;

/** A number that was counted up to 1,001. */
export function atLeast(count: number, one: string, many: string): string {
  if (count > UP_TO) return `more than 1,000 ${many}`;
  return count === 1 ? `1 ${one}` : `${count.toLocaleString("en")} ${many}`;
}
