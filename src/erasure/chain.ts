import { createHash } from "node:crypto";
import { canonicalJson } from "../canonical-json.ts";
import type { Erasure } from "./erasure.ts";

/** What the hash of an entry is over: all of it, with the hash before. */
export function hashOf({ hash: _, ...entry }: Erasure): string {
  return createHash("sha256").update(canonicalJson(entry)).digest("hex");
}

/**
 * The sentences that say what is wrong with a chain of entries, the first one first; those that are not sealed yet are
 * passed over, as nothing can be said of them.
 *
 * @param before the hash that the first of them has to follow; null where it is the first of all
 */
export function faultsOf(entries: readonly Erasure[], before: string | null = null): string[] {
  const faults: string[] = [];
  let expected = entries[0]?.position ?? 1;
  let previous = before;
  for (const entry of entries) {
    if (entry.position !== expected) faults.push(`entry ${expected} is missing`);
    expected = entry.position + 1;
    if (entry.hash === null) continue;
    if (entry.previousHash !== previous)
      faults.push(`entry ${entry.position} does not follow the one before it`);
    if (hashOf(entry) !== entry.hash) faults.push(`entry ${entry.position} was changed`);
    previous = entry.hash;
  }
  return faults;
}
