/** What a stretch of text looks like, as Telegram's `MessageEntity` names it. */
export type Style =
  | {
      readonly type:
        | "bold"
        | "italic"
        | "underline"
        | "strikethrough"
        | "spoiler"
        | "code"
        | "blockquote"
        | "expandable_blockquote";
    }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

/** Offset and length count UTF-16 code units, as JavaScript's strings do. */
export type Entity = Style & { readonly offset: number; readonly length: number };

export interface FormattedText {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Part of a text; styles that reach over its ends are continued inside. */
export function sliceOf(whole: FormattedText, from: number, to: number): FormattedText {
  const entities = whole.entities.flatMap((entity) => {
    const start = Math.max(entity.offset, from);
    const end = Math.min(entity.offset + entity.length, to);
    return end > start ? [{ ...entity, offset: start - from, length: end - start }] : [];
  });
  return { text: whole.text.slice(from, to), entities };
}

/** Without white space at its ends, which Telegram takes away too. */
export function trimmed(whole: FormattedText): FormattedText {
  const from = whole.text.length - whole.text.trimStart().length;
  return sliceOf(whole, from, Math.max(from, whole.text.trimEnd().length));
}

/** The address of a link; undefined for one that Telegram does not open. */
export function linkOf(href: string): string | undefined {
  const url = URL.parse(href);
  return url && /^(?:https?|tg):$/.test(url.protocol) ? url.href : undefined;
}

/** Writes a text from its beginning to its end, with the styles that parts of it have. */
export class TextWriter {
  #text = "";
  readonly #entities: Entity[] = [];

  get length(): number {
    return this.#text.length;
  }

  write(text: string): void {
    this.#text += text;
  }

  /** Makes what comes next begin after this many line breaks; nothing at the beginning. */
  breakLines(count: number): void {
    if (count === 0 || this.#text.trim() === "") return;
    const there = /\n*$/.exec(this.#text.slice(-count))?.[0].length ?? 0;
    this.#text += "\n".repeat(count - there);
  }

  /** Styles what was written since `from`. */
  style(from: number, style: Style): void {
    const length = this.#text.length - from;
    if (length > 0) this.#entities.push({ ...style, offset: from, length });
  }

  styled(style: Style, write: () => void): void {
    const from = this.length;
    write();
    this.style(from, style);
  }

  end(): FormattedText {
    const entities = this.#entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length);
    return trimmed({ text: this.#text, entities });
  }
}
