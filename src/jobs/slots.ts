import { Cron } from "croner";
import type { JobHandler } from "./handler.ts";

/** One instant of a handler's cron pattern. */
export interface Slot {
  readonly kind: string;
  readonly at: Date;
}

/**
 * The latest instants up to `now`, itself included, newest first. After a long stop only the first of them is made up
 * for. Empty where the handler has no pattern.
 */
export function lastSlots({ kind, cron }: JobHandler, now: Date, count: number): Slot[] {
  if (cron === undefined) return [];
  // croner looks strictly before its reference, in whole seconds.
  const reference = new Date(now.getTime() + 1);
  const instants = new Cron(cron, { timezone: "UTC" }).previousRuns(count, reference);
  return instants.map((at) => ({ kind, at }));
}

/** When a job of the kind is queued next by itself. */
export function nextSlot(cron: string, now: Date): Date | null {
  return new Cron(cron, { timezone: "UTC" }).nextRun(now);
}

/** Unique within the kind: however many processes queue the slot, one job comes of it. */
export function slotKey({ at }: Slot): string {
  return at.toISOString();
}
