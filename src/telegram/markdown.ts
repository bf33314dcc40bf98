import { lexer, type Token, type Tokens } from "marked";
import { type FormattedText, linkOf, TextWriter } from "./formatted-text.ts";
import { decodeReferences } from "./html.ts";

/** Deeper quotes are no quotes, and exhaust the parser's stack. */
const TOO_DEEP = /^(?:[ \t]*>){33}/m;

/**
 * Markdown as people and models write it (CommonMark with GitHub's tables, lists and strikethrough) as text with styles:
 * headings are bold, tables keep their columns as preformatted text. Reads every text: what is no markup stays as it is.
 */
export function fromMarkdown(source: string): FormattedText {
  if (TOO_DEEP.test(source)) return asItStands(source);
  try {
    const writer = new TextWriter();
    writeBlocks(lexer(source), writer, "");
    return writer.end();
  } catch (error) {
    // Lists and emphasis can be nested as deeply: nobody means markup by that.
    if (error instanceof RangeError) return asItStands(source);
    throw error;
  }
}

function asItStands(text: string): FormattedText {
  return { text, entities: [] };
}

function writeBlocks(tokens: readonly Token[], writer: TextWriter, indent: string): void {
  for (const token of tokens) writeBlock(token, writer, indent);
}

function writeBlock(token: Token, writer: TextWriter, indent: string): void {
  if (token.type === "space" || token.type === "def") return;
  writer.breakLines(2);
  switch (token.type) {
    case "heading":
      writer.styled({ type: "bold" }, () => writeInline(token.tokens ?? [], writer));
      return;
    case "code": {
      const [language] = /^[\w+#.-]{1,32}/.exec((token as Tokens.Code).lang ?? "") ?? [];
      writer.styled({ type: "pre", ...(language && { language }) }, () => writer.write(token.text));
      return;
    }
    case "table":
      writer.styled({ type: "pre" }, () => writer.write(token.raw.trim()));
      return;
    case "hr":
      writer.write("———");
      return;
    case "blockquote":
      writer.styled({ type: "blockquote" }, () => writeBlocks(token.tokens ?? [], writer, indent));
      return;
    case "list":
      writeList(token as Tokens.List, writer, indent);
      return;
    case "html":
      writer.write(token.raw.trim());
      return;
    default:
      writeInline("tokens" in token ? (token.tokens ?? []) : [token], writer);
  }
}

function writeList(list: Tokens.List, writer: TextWriter, indent: string): void {
  for (const [at, item] of list.items.entries()) {
    if (at > 0) writer.breakLines(list.loose ? 2 : 1);
    const bullet = list.ordered ? `${Number(list.start) + at}.` : "•";
    writer.write(`${indent}${bullet} `);
    if (item.task) writer.write(item.checked ? "☑ " : "☐ ");
    let isFirst = true;
    for (const token of item.tokens) {
      if (token.type === "space" || token.type === "checkbox") continue;
      if (token.type === "list") {
        writer.breakLines(1);
        writeList(token as Tokens.List, writer, `${indent}   `);
      } else if (isFirst && "tokens" in token && /^(?:text|paragraph)$/.test(token.type)) {
        writeInline(token.tokens ?? [], writer);
      } else {
        writeBlock(token, writer, indent);
      }
      isFirst = false;
    }
  }
}

function writeInline(tokens: readonly Token[], writer: TextWriter): void {
  for (const token of tokens) writeSpan(token, writer);
}

const SPANS = { strong: "bold", em: "italic", del: "strikethrough" } as const;

function writeSpan(token: Token, writer: TextWriter): void {
  const inside = () => writeInline("tokens" in token ? (token.tokens ?? []) : [], writer);
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      writer.styled({ type: SPANS[token.type] }, inside);
      return;
    case "codespan":
      writer.styled({ type: "code" }, () => writer.write(token.text));
      return;
    case "br":
      writer.write("\n");
      return;
    case "escape":
      writer.write(token.text);
      return;
    case "link":
    case "image": {
      const url = linkOf(token.href);
      // Telegram makes a link of a bare address by itself.
      if (!url || ("autolink" in token && token.autolink)) writer.write(token.raw);
      else writer.styled({ type: "text_link", url }, () => writeLabel(token, writer, url));
      return;
    }
    case "text":
      if ("tokens" in token && token.tokens) inside();
      else writer.write(decodeReferences(token.text));
      return;
    default:
      writer.write(token.raw);
  }
}

function writeLabel(token: Token, writer: TextWriter, url: string): void {
  const from = writer.length;
  if ("tokens" in token) writeInline(token.tokens ?? [], writer);
  if (writer.length === from) writer.write(url);
}
