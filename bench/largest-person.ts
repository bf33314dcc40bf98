import { LARGEST, toolCall } from "./calls.ts";
import { type Load, load } from "./load.ts";
import type { ServerProcess } from "./server-process.ts";
import { count, figure, type Table } from "./table.ts";

/** What the product promises of `get_user_context` for a person with a full map and a very large archive. */
const PROMISED_P95_MS = 100;
const KEYS = 1000;
/** The largest batch that `store_memory` takes. */
const BATCH = 500;
/** A map of short values, and one that fills the 1 MiB that a person may have. */
const VALUE_CHARACTERS = [100, 1040];

export interface LargestContext {
  readonly keys: number;
  readonly mapBytes: number;
  readonly messages: number;
  readonly load: Load;
  readonly holds: boolean;
}

/** Reads the context of the largest person over HTTP, one call at a time. */
export async function measureLargest(
  server: ServerProcess,
  key: string,
  { messages, seconds }: { messages: number; seconds: number },
): Promise<LargestContext[]> {
  const contexts: LargestContext[] = [];
  const target = toolCall(server, key, "get_user_context", () => ({ userId: LARGEST }));
  for (const characters of VALUE_CHARACTERS) {
    await fillMap(server, key, characters);
    await load(server, target, { connections: 1, seconds: Math.min(1, seconds) });
    const measured = await load(server, target, { connections: 1, seconds });
    contexts.push({
      keys: KEYS,
      mapBytes: KEYS * characters,
      messages,
      load: measured,
      holds: measured.p95 < PROMISED_P95_MS,
    });
  }
  return contexts;
}

async function fillMap(server: ServerProcess, key: string, characters: number): Promise<void> {
  const value = "x".repeat(characters);
  for (let from = 0; from < KEYS; from += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, i) => ({ key: `key_${from + i}`, value }));
    const { url, headers, body } = toolCall(server, key, "store_memory", () => ({
      userId: LARGEST,
      entries,
    }));
    const answer = await fetch(url, { method: "POST", headers, body: body() });
    const text = await answer.text();
    if (!answer.ok || text.includes('"isError":true')) throw new Error(text.slice(0, 500));
  }
}

export function largestTable(database: string, contexts: readonly LargestContext[]): Table {
  const verdict = contexts.every(({ holds }) => holds) ? "yes" : "NO";
  return {
    title: `get_user_context of a person with ${count(KEYS)} keys, on ${database}`,
    columns: ["values", "messages", "calls", "p50 ms", "p95 ms", "p99 ms", "CPU µs"],
    rows: contexts.map(({ mapBytes, messages, load: { calls, p50, p95, p99, cpuMicros } }) => [
      `${count(Math.round(mapBytes / 1024))} KiB`,
      count(messages),
      count(calls),
      ...[p50, p95, p99, cpuMicros].map(figure),
    ]),
    notes: [
      "Over HTTP, one call at a time, the whole map and the newest 20 messages in each answer.",
      `p95 below ${PROMISED_P95_MS} ms: ${verdict}.`,
    ],
  };
}
