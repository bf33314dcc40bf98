import { compose, FRAME, type Line } from "./block.ts";
import type { CountTokens } from "./tokens.ts";

/** Minimum shares of a budget of 1,400 tokens; of another budget the same parts. Source: SPEC §6. */
export const SHARES = { core: 600 / 1400, working: 400 / 1400 };

/** No line takes less. */
const LEAST_TOKENS = 8;

export type TierName = "core" | "working" | "archival";

/** What of a block a tier gave, for whoever wants to see why it is there. */
interface Tier {
  readonly name: TierName;
  readonly lines: readonly Line[];
  readonly tokens: number;
}

/** Lines that ask to be in a block, best first in each tier. One that several tiers offer is taken by the first of them. */
export type Offers = Readonly<Record<TierName, Iterable<Line>>>;

/** A line that asked to be in a block and is not, and why: its length, or that of its key's current value. */
interface LeftOut {
  readonly id: string;
  readonly reason: "too long" | "older value";
  readonly tokens: number;
  /** What was left of its tier at its turn. */
  readonly room: number;
}

export interface Block {
  readonly text: string;
  /** Of the text, counted on the high side. */
  readonly tokens: number;
  readonly tiers: readonly Tier[];
  /** Of each, the last time that it asked. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * As many lines as the budget holds: lasting facts first, then recent ones, each up to its share, then whatever answers
 * the query with all that is left. Empty where there is nothing to say, or no room to say it.
 */
export function fillTiers(offers: Offers, budget: number, count: CountTokens): Block {
  const room = Math.max(0, budget - count(FRAME));
  const taken = new Taken();
  const core = taken.fill(offers.core, Math.floor(room * SHARES.core));
  const working = taken.fill(offers.working, Math.floor(room * SHARES.working));
  const archival = taken.fill(offers.archival, room - sum(core) - sum(working));
  const tiers = { core, working, archival };
  // Tokens of lines need not add up exactly to tokens of the text.
  let text = compose([...core, ...working, ...archival]);
  while (text !== "" && count(text) > budget) {
    (archival.length > 0 ? archival : working.length > 0 ? working : core).pop();
    text = compose([...core, ...working, ...archival]);
  }
  return {
    text,
    tokens: text === "" ? 0 : count(text),
    tiers: (["core", "working", "archival"] as const).map((name) => ({
      name,
      lines: tiers[name],
      tokens: sum(tiers[name]),
    })),
    leftOut: taken.leftOut(),
  };
}

class Taken {
  readonly #ids = new Set<string>();
  readonly #slots = new Set<string>();
  readonly #leftOut = new Map<string, LeftOut>();

  /** One line too long for the room left does not keep shorter ones out. */
  fill(offered: Iterable<Line>, room: number): Line[] {
    const lines: Line[] = [];
    const cut = new Set<string>();
    let left = room;
    for (const line of offered) {
      if (left < LEAST_TOKENS) break;
      if (this.#ids.has(line.id)) continue;
      const { id, slot, tokens } = line;
      // An older value of a key without the current one would pass for what is true.
      if (slot !== undefined && cut.has(slot)) {
        this.#leftOut.set(id, { id, reason: "older value", tokens, room: left });
        continue;
      }
      if (tokens > left) {
        this.#leftOut.set(id, { id, reason: "too long", tokens, room: left });
        if (slot !== undefined && !this.#slots.has(slot)) cut.add(slot);
        continue;
      }
      this.#ids.add(line.id);
      if (slot !== undefined) this.#slots.add(slot);
      lines.push(line);
      left -= tokens;
    }
    return lines;
  }

  leftOut(): LeftOut[] {
    return [...this.#leftOut.values()].filter(({ id }) => !this.#ids.has(id));
  }
}

function sum(lines: readonly Line[]): number {
  return lines.reduce((tokens, line) => tokens + line.tokens, 0);
}
