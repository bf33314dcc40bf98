import { expect } from "vitest";
import type { ImportedLine } from "../../src/export/imported.ts";
import type { TestApp } from "../support/app.ts";

interface Options {
  readonly org?: string;
  readonly dryRun?: boolean;
  /** Lines of a batch. */
  readonly batch?: number;
}

/** Sends an export's lines as the command line does. */
export async function importLines(
  app: TestApp,
  lines: readonly string[],
  { org, dryRun = false, batch = 500 }: Options = {},
): Promise<ImportedLine[]> {
  const outcomes: ImportedLine[] = [];
  for (let at = 0; at < lines.length; at += batch) {
    const some = lines.slice(at, at + batch).map((text, n) => ({ number: at + n + 1, text }));
    const body = { dryRun, end: at + batch >= lines.length, lines: some };
    const answer = await app.v1("POST", "/v1/imports/souvenir", body, org);
    expect([answer.status, answer.status === 200 ? "" : answer.body]).toEqual([200, ""]);
    outcomes.push(...(answer.body.lines as ImportedLine[]));
  }
  return outcomes;
}

export function tally(outcomes: readonly ImportedLine[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

export const refused = (outcomes: readonly ImportedLine[]) =>
  outcomes
    .filter(({ outcome }) => outcome === "refused")
    .map(({ number, section, reason }) => `${number} ${section}: ${reason}`);
