import type { ExportFormat, Header, Totals } from "./document.ts";

/** The pieces around rows. A section opens and closes once, in order; those that are listed come first. */
export interface Layout {
  head(header: Header): string;
  open(group: "listed" | "section", name: string, isFirst: boolean): string;
  row(group: "listed" | "section", name: string, text: string, isFirst: boolean): string;
  close(): string;
  /** Between what is listed and the sections. */
  turn(): string;
  end(totals: Totals): string;
}

/** One row a line, each with the name of its section. */
const ndjson: Layout = {
  head: (header) => `${JSON.stringify(header)}\n`,
  open: () => "",
  row: (group, name, text) => `{"${group}":"${name}","row":${text}}\n`,
  close: () => "",
  turn: () => "",
  end: (totals) => `${JSON.stringify({ totals })}\n`,
};

/** One document, with a row a line as well: people look into it. */
const json: Layout = {
  head: (header) => `${JSON.stringify(header).slice(0, -1)},\n"listed":{`,
  open: (_group, name, isFirst) => `${isFirst ? "" : ","}\n"${name}":[`,
  row: (_group, _name, text, isFirst) => `${isFirst ? "" : ","}\n${text}`,
  close: () => "]",
  turn: () => `\n},\n"sections":{`,
  end: (totals) => `\n},\n"totals":${JSON.stringify(totals)}}\n`,
};

export function layoutOf(format: ExportFormat): Layout {
  return format === "json" ? json : ndjson;
}
