import { html } from "htm/preact";

/**
 * What cannot be seen and yet changes what is read: control characters, marks that turn the direction of writing, tags
 * that hide a text inside a text. Line breaks, joiners and the choice between text and emoji belong to normal writing.
 */
const UNSEEN =
  /((?!\n|\t|\u200c|\u200d|\ufe0e|\ufe0f)[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800])/u;

interface TextProps {
  readonly text: string;
  /** Characters to show; absent = all. */
  readonly limit?: number | undefined;
}

/** Text that somebody else wrote, isolated from ours: its direction and its invisible characters stay inside. */
export function Text({ text, limit = Number.POSITIVE_INFINITY }: TextProps) {
  const characters = text.length > limit ? [...text] : [];
  const shown = characters.length > limit ? `${characters.slice(0, limit).join("")}…` : text;
  const parts = shown.split(UNSEEN);
  // Every second part is what the pattern caught.
  return html`<bdi class="text" dir="auto">${parts.map((part, at) => (at % 2 === 0 ? part : mark(part)))}</bdi>`;
}

function mark(character: string) {
  const code = character.codePointAt(0) ?? 0;
  return html`<span class="unseen">U+${code.toString(16).toUpperCase().padStart(4, "0")}</span>`;
}

interface ValueProps {
  readonly value: unknown;
  readonly limit?: number | undefined;
}

/** A remembered value: text as it is, everything else as JSON. */
export function Value({ value, limit }: ValueProps) {
  if (typeof value === "string") return html`<${Text} text=${value} limit=${limit} />`;
  const json = JSON.stringify(value, null, limit === undefined ? 2 : undefined);
  return html`<code><${Text} text=${json} limit=${limit} /></code>`;
}

/** What kind of JSON a value is, in words. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return { string: "text", boolean: "true or false" }[typeof value as string] ?? typeof value;
}

const DAY = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** A point in time in UTC: the server does not know where its reader is. */
export function Time({ at }: { readonly at: Date }) {
  const iso = at.toISOString();
  return html`<time datetime=${iso}>${DAY.format(at)}, ${iso.slice(11, 16)} UTC</time>`;
}

export function Day({ at }: { readonly at: Date }) {
  const iso = at.toISOString();
  return html`<time datetime=${iso} title=${iso}>${DAY.format(at)}</time>`;
}

/** The time of a day that is named nearby. */
export function Clock({ at }: { readonly at: Date }) {
  const iso = at.toISOString();
  return html`<time datetime=${iso} title=${iso}>${iso.slice(11, 16)}</time>`;
}

/** A score or confidence from 0 to 1. */
export function Score({ value }: { readonly value: number }) {
  return html`<span class="score"><meter min="0" max="1" value=${value} aria-hidden="true"></meter> ${value.toFixed(2)}</span>`;
}
