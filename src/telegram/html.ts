import { type FormattedText, linkOf, type Style, TextWriter } from "./formatted-text.ts";

const REFERENCES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  hellip: "…",
  ndash: "–",
  mdash: "—",
};

/** Text with its character references (`&amp;`, `&#233;`) read; what is none stays as it is. */
export function decodeReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, dec, hex, name) => {
    if (name !== undefined) return REFERENCES[name.toLowerCase()] ?? all;
    const point = dec === undefined ? Number.parseInt(hex, 16) : Number(dec);
    const isCharacter = point > 0 && point <= 0x10_ff_ff && !(point >= 0xd8_00 && point <= 0xdf_ff);
    return isCharacter ? String.fromCodePoint(point) : all;
  });
}

const STYLES: Readonly<Record<string, Style>> = {
  b: { type: "bold" },
  strong: { type: "bold" },
  h1: { type: "bold" },
  h2: { type: "bold" },
  h3: { type: "bold" },
  h4: { type: "bold" },
  h5: { type: "bold" },
  h6: { type: "bold" },
  i: { type: "italic" },
  em: { type: "italic" },
  u: { type: "underline" },
  ins: { type: "underline" },
  s: { type: "strikethrough" },
  strike: { type: "strikethrough" },
  del: { type: "strikethrough" },
  code: { type: "code" },
  pre: { type: "pre" },
  blockquote: { type: "blockquote" },
  "tg-spoiler": { type: "spoiler" },
};
/** How many line breaks part an element from what is around it. */
const LINES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(["p", "h1", "h2", "h3", "h4", "h5", "h6"].map((tag) => [tag, 2])),
  ...Object.fromEntries(["div", "ul", "ol", "li", "pre", "blockquote"].map((tag) => [tag, 1])),
};

/** A quoted value may hold `>` but no `<`: each try ends at the next `<`, so that no text takes long. */
const MARKUP =
  /<!--[\s\S]{0,4096}?-->|<(\/?)([a-z][a-z\d-]{0,15})((?=[\s/>])(?:[^<>"']|"[^"<]*"|'[^'<]*')*)>/gi;

interface OpenTag {
  readonly name: string;
  readonly from: number;
  style: Style | undefined;
}

/**
 * The HTML that chats have (Telegram's own, with paragraphs, headings and lists) as text with styles. Reads every text: a
 * `<` that begins no tag stays as it is, tags that mean nothing here go, and what is never closed ends with the text.
 */
export function fromHtml(source: string): FormattedText {
  const writer = new TextWriter();
  const open: OpenTag[] = [];
  let at = 0;
  for (const match of source.matchAll(MARKUP)) {
    writer.write(decodeReferences(source.slice(at, match.index)));
    at = match.index + match[0].length;
    const [, slash, tag, attributes = ""] = match;
    if (tag === undefined) continue;
    const name = tag.toLowerCase();
    if (slash) close(name, open, writer);
    else start(name, attributes, open, writer);
  }
  writer.write(decodeReferences(source.slice(at)));
  for (const tag of open.reverse()) end(tag, writer);
  return writer.end();
}

function start(name: string, attributes: string, open: OpenTag[], writer: TextWriter): void {
  if (name === "br") {
    writer.write("\n");
    return;
  }
  writer.breakLines(LINES[name] ?? 0);
  if (name === "li") writer.write("• ");
  const parent = open.at(-1);
  const isLanguage = name === "code" && parent?.name === "pre";
  if (isLanguage) parent.style = { type: "pre", ...languageOf(attributes) };
  open.push({
    name,
    from: writer.length,
    style: isLanguage ? undefined : styleOf(name, attributes),
  });
}

function close(name: string, open: OpenTag[], writer: TextWriter): void {
  const at = open.findLastIndex((tag) => tag.name === name);
  if (at === -1) return;
  // What was left open inside ends here, as browsers have it.
  for (const tag of open.splice(at).reverse()) end(tag, writer);
  writer.breakLines(LINES[name] ?? 0);
}

function end({ from, style }: OpenTag, writer: TextWriter): void {
  if (style) writer.style(from, style);
}

function languageOf(attributes: string): { language?: string } {
  const [, language] =
    /^language-([\w+#.-]{1,32})$/.exec(attribute(attributes, "class") ?? "") ?? [];
  return language === undefined ? {} : { language };
}

function styleOf(name: string, attributes: string): Style | undefined {
  if (name === "a") {
    const url = linkOf(decodeReferences(attribute(attributes, "href") ?? ""));
    return url === undefined ? undefined : { type: "text_link", url };
  }
  if (name === "span")
    return attribute(attributes, "class") === "tg-spoiler" ? { type: "spoiler" } : undefined;
  if (name === "blockquote" && /\sexpandable\b/i.test(attributes))
    return { type: "expandable_blockquote" };
  return STYLES[name];
}

function attribute(attributes: string, name: string): string | undefined {
  const value = `(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`;
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*${value}`, "i").exec(attributes) ?? [];
  return double ?? single ?? bare;
}
