import type { ExtractorFault } from "../llm/extractor.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Between a turn's attempts, together almost four hours: an outage of an hour or two costs no turn its last attempt. */
const RETRY_AFTER = [
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
] as const;

/** When a turn whose attempt failed is tried again; never before the provider allows it. */
export function retryAt(attempt: number, fault: ExtractorFault | undefined, now: Date): Date {
  const wait = RETRY_AFTER[attempt - 1] ?? (RETRY_AFTER.at(-1) as number);
  return new Date(now.getTime() + Math.max(wait, fault?.retryAfterMs ?? 0));
}

/** The day that an extraction is counted for, UTC. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

export function nextDay(now: Date): Date {
  return new Date((Math.floor(now.getTime() / DAY) + 1) * DAY);
}

/** A pause starts short and doubles up to the longest; what an operator has to mend is looked at less often. */
const OUTAGE = { first: 30 * SECOND, longest: 5 * MINUTE };
const MISCONFIGURED = { first: 5 * MINUTE, longest: HOUR };

/** Longer than one call takes. */
const PROBE_MS = MINUTE + 30 * SECOND;

/**
 * Keeps all turns from a provider that is down: each would wait for its own timeout and lose one of its attempts to
 * learn the same. After a pause one turn goes first. Knows of this process's calls only.
 */
export class Pause {
  #until = 0;
  #faults = 0;
  #isProbing = false;

  /** @returns when to come back, or undefined to go on */
  enter(now: Date): Date | undefined {
    if (now.getTime() < this.#until) return new Date(this.#until);
    if (this.#faults > 0) {
      this.#isProbing = true;
      this.#until = now.getTime() + PROBE_MS;
    }
    return undefined;
  }

  /** A call failed for a reason that is the provider's. */
  begin(fault: ExtractorFault, now: Date): void {
    const asked = now.getTime() + (fault.retryAfterMs ?? 0);
    // Calls that were under way together fail together, and are one failure.
    if (now.getTime() < this.#until && !this.#isProbing) {
      this.#until = Math.max(this.#until, asked);
      return;
    }
    const { first, longest } = fault.code === "misconfigured" ? MISCONFIGURED : OUTAGE;
    const wait = Math.min(first * 2 ** this.#faults, longest);
    this.#faults++;
    this.#isProbing = false;
    this.#until = Math.max(now.getTime() + wait, asked);
  }

  /** A call was answered. */
  end(): void {
    this.#faults = 0;
    this.#until = 0;
    this.#isProbing = false;
  }
}
