import { expect } from "vitest";
import { Header } from "../../src/export/document.ts";
import { type AnySection, LISTED_NAMES, SECTION_NAMES, schemaOf } from "../../src/export/rows.ts";
import type { TestApp } from "../support/app.ts";

type Row = Record<string, unknown>;

/** An export as a reader of its lines has it. */
export interface ReadExport {
  readonly text: string;
  readonly lines: readonly string[];
  readonly header: Header;
  readonly rows: Readonly<Record<AnySection, readonly Row[]>>;
  readonly totals: Readonly<Record<string, number>>;
  /** From the first row that an import restores: equal bytes for equal memory. */
  readonly body: string;
}

export async function fetchExport(
  app: TestApp,
  query: string,
  { key = app.operatorToken, org }: { key?: string; org?: string } = {},
) {
  const response = await app.http.inject({
    method: "GET",
    url: `/v1/export?${query}`,
    headers: {
      host: "localhost",
      authorization: `Bearer ${key}`,
      ...(org !== undefined && { "x-souvenir-org": org }),
    },
  });
  return { status: response.statusCode, text: response.body, headers: response.headers };
}

/** Takes an export and reads it; every row has to be what the published schema says. */
export async function takeExport(
  app: TestApp,
  query: string,
  by: { key?: string; org?: string } = {},
): Promise<ReadExport> {
  const { status, text } = await fetchExport(app, `${query}&format=ndjson`, by);
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return readLines(text);
}

function readLines(text: string): ReadExport {
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  const rows = Object.fromEntries(
    [...LISTED_NAMES, ...SECTION_NAMES].map((name): [AnySection, Row[]] => [name, []]),
  ) as Record<AnySection, Row[]>;
  for (const line of lines.slice(1, -1)) {
    const { listed, section = listed, row } = JSON.parse(line);
    rows[section as AnySection].push(schemaOf(section).parse(row) as Row);
  }
  const first = lines.findIndex((line, at) => at > 0 && !line.startsWith('{"listed"'));
  return {
    text,
    lines,
    header: Header.parse(JSON.parse(lines[0] ?? "")),
    rows,
    totals: JSON.parse(lines.at(-1) ?? "").totals,
    body: lines.slice(first).join("\n"),
  };
}
