import type { FactScopeName } from "../facts/fact.ts";

/** Of a message, in a memory block. */
const MESSAGE_CHARACTERS = 400;

/** A fact as a memory block has it, before what is marked at its end. */
export function factLine(scope: FactScopeName, key: string, value: unknown): string {
  return `- ${scope} ${key}: ${quoted(value)}`;
}

/** A message as a memory block has it, clipped. */
export function messageLine(sentAt: Date, speaker: string, text: string): string {
  const when = sentAt.toISOString().slice(0, 16).replace("T", " ");
  const clipped =
    text.length > MESSAGE_CHARACTERS
      ? `${text.slice(0, MESSAGE_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`
      : text;
  return `- ${when} ${speaker}: ${quoted(clipped)}`;
}

export function speakerOf(message: {
  readonly direction: "inbound" | "outbound";
  readonly forwarded: boolean;
}): string {
  if (message.direction === "outbound") return "assistant";
  return message.forwarded ? "user (forwarded)" : "user";
}

/** JSON on one line, without what could end the block, start a line or turn text around: remembered text is data. */
function quoted(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
