import { createHash } from "node:crypto";
import { z } from "zod";

/** How an org uses memory. */
export interface MemorySettings {
  /** Off: nothing is extracted, and recall's blocks are empty. */
  readonly enabled: boolean;
  /** Of the org's people the share that does without, from 0 to 1: the other arm of a comparison. */
  readonly offShare: number;
  /** Turns that are extracted a day (UTC); 0 = none, null = as the server's variable says. */
  readonly extractionDailyLimit: number | null;
}

/** What `PATCH /v1/memory` takes. */
export const MemoryChanges = z
  .strictObject({
    enabled: z.boolean(),
    offShare: z.number().min(0).max(1),
    extractionDailyLimit: z.int().min(0).max(1_000_000_000).nullable(),
  })
  .partial();
export type MemoryChanges = z.output<typeof MemoryChanges>;

/** With or without memory. */
export type Arm = "on" | "off";

/** The arm of a person: the same for as long as the share is, and a larger share only moves people from on to off. */
export function armOf(settings: Pick<MemorySettings, "enabled" | "offShare">, userId: string): Arm {
  if (!settings.enabled) return "off";
  const place = createHash("sha256").update(userId).digest().readUInt32BE() / 2 ** 32;
  return place < settings.offShare ? "off" : "on";
}

/** Whether anything is learned of a person and recalled to them; without a person, in the org at all; off in none. */
export function memoryOf(
  settings: Pick<MemorySettings, "enabled" | "offShare"> | undefined,
  userId: string | undefined,
): Arm {
  if (!settings) return "off";
  if (userId === undefined) return settings.enabled ? "on" : "off";
  return armOf(settings, userId);
}
