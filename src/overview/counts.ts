import { z } from "zod";
import { FactScopeName } from "../facts/fact.ts";

const Count = z.number().int().nonnegative();

const FactCount = z.object({ scope: FactScopeName, agentId: z.string(), live: Count });
export type FactCount = z.output<typeof FactCount>;

/** How much an org remembers, as it is kept for each day. */
export const MemoryCounts = z.object({
  people: Count,
  messages: Count,
  entries: Count,
  /** Live ones, most first. */
  facts: z.array(FactCount),
});
export type MemoryCounts = z.output<typeof MemoryCounts>;

export interface CountedDay {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  readonly countedAt: Date;
  readonly counts: MemoryCounts;
}

/** Beyond this many rows of one kind an org is counted by the job alone: counting them takes too long to watch. */
export const SMALL_ORG = 20_000;
/** A waiting list says so many at most; more are "100 or more". */
export const MAX_WAITING = 100;

/** What waits for somebody, each up to `MAX_WAITING`. */
export interface Waiting {
  readonly contradictions: number;
  readonly duplicates: number;
  readonly pendingPeople: number;
  readonly corrections: number;
  readonly deadLetters: number;
}

/** What is remembered of one person; each number up to `SMALL_ORG`. */
export interface PersonCounts {
  readonly messages: number;
  readonly entries: number;
  readonly facts: readonly FactCount[];
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export function liveFacts({ facts }: { readonly facts: readonly FactCount[] }): number {
  return facts.reduce((sum, { live }) => sum + live, 0);
}
