import { LARGEST, toolCall } from "./calls.ts";
import type { Load } from "./load.ts";
import { loadInRounds, medianOf, ROUNDS } from "./rounds.ts";
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
  readonly context: Load;
  /** The tool that does nothing, measured in turns with it: how quiet the machine was. */
  readonly noop: Load;
  readonly holds: boolean;
}

/** Reads the context of the largest person over HTTP, one call at a time. */
export async function measureLargest(
  server: ServerProcess,
  key: string,
  shape: { messages: number; seconds: number; signal: AbortSignal },
): Promise<LargestContext[]> {
  const contexts: LargestContext[] = [];
  const cases = [
    { name: "noop", target: toolCall(server, key, "noop", () => ({})) },
    {
      name: "context",
      target: toolCall(server, key, "get_user_context", () => ({ userId: LARGEST })),
    },
  ];
  for (const characters of VALUE_CHARACTERS) {
    await fillMap(server, key, characters);
    const rounds = await loadInRounds(server, cases, { ...shape, connections: 1 });
    const context = medianOf(rounds.get("context") ?? []);
    contexts.push({
      keys: KEYS,
      mapBytes: KEYS * characters,
      messages: shape.messages,
      context,
      noop: medianOf(rounds.get("noop") ?? []),
      holds: context.p95 < PROMISED_P95_MS,
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
  const lines = contexts.flatMap(({ mapBytes, messages, context, noop }) => [
    lineOf(
      `${count(Math.round(mapBytes / 1024))} KiB of values, ${count(messages)} messages`,
      context,
    ),
    lineOf("noop, in turns with it", noop),
  ]);
  return {
    title: `get_user_context of a person with ${count(KEYS)} keys, on ${database}`,
    columns: ["call", "calls", "p50 ms", "p95 ms", "p99 ms", "CPU µs/request"],
    rows: lines,
    notes: [
      "Over HTTP, one call at a time, the whole map and the newest 20 messages in each answer. Medians of",
      `${ROUNDS} rounds. p95 below ${PROMISED_P95_MS} ms: ${verdict}.`,
    ],
  };
}

function lineOf(name: string, { calls, p50, p95, p99, cpuMicros }: Load): string[] {
  return [name, count(calls), ...[p50, p95, p99, cpuMicros].map(figure)];
}
