import { has, isRecord } from "../chat/payload.ts";

/**
 * The words of a rich message, one line a block, in reading order: headings, paragraphs, list items with
 * their label, table rows (cells parted by a tab), captions, credits, button labels. `rich` must have gone through
 * `cleanJson`, which bounds the depth of this recursion.
 */
export function flattenRichMessage(rich: unknown): string {
  if (!isRecord(rich)) return "";
  const lines: string[] = [];
  addBlocks(rich.blocks, lines);
  return lines.filter((line) => line !== "").join("\n");
}

function addBlocks(blocks: unknown, lines: string[]): void {
  if (!Array.isArray(blocks)) return;
  for (const block of blocks) if (isRecord(block)) addBlock(block, lines);
}

function addBlock(block: Record<string, unknown>, lines: string[]): void {
  if (has(block, "summary")) lines.push(inline(block.summary));
  const own = inline(block);
  if (own !== "") lines.push(own);
  addItems(block.items, lines);
  addBlocks(block.blocks, lines);
  addRows(block.cells, lines);
  if (Array.isArray(block.buttons)) lines.push(block.buttons.map(inline).join("\t"));
  lines.push(inline(block.caption));
  if (isRecord(block.caption)) lines.push(inline(block.caption.credit));
  lines.push(inline(block.credit));
}

function addItems(items: unknown, lines: string[]): void {
  if (!Array.isArray(items)) return;
  for (const item of items) {
    if (!isRecord(item)) continue;
    const inner: string[] = [];
    addBlocks(item.blocks, inner);
    const label = typeof item.label === "string" ? item.label : "";
    lines.push(`${label} ${inner.shift() ?? ""}`.trim(), ...inner);
  }
}

function addRows(rows: unknown, lines: string[]): void {
  if (!Array.isArray(rows)) return;
  for (const row of rows) if (Array.isArray(row)) lines.push(row.map(inline).join("\t"));
}

/** Rich text is a string, a list of rich texts, or an object that wraps one. */
function inline(text: unknown): string {
  if (typeof text === "string") return text;
  if (Array.isArray(text)) return text.map(inline).join("");
  if (!isRecord(text)) return "";
  if (has(text, "text")) return inline(text.text);
  if (has(text, "button")) return inline(text.button);
  const words = text.alternative_text ?? text.expression;
  return typeof words === "string" ? words : "";
}
