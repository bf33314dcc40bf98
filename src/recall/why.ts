import type { Inspection } from "./assembly.ts";
import type { TierName } from "./tiers.ts";

/** Why a fact or message stands in the block, or does not. */
export type Why =
  | { readonly tier: TierName }
  /** Its line is longer than what was left of its tier. */
  | { readonly reason: "too long"; readonly tokens: number; readonly room: number }
  /** The current value of its key did not fit, and an older one alone would mislead. */
  | { readonly reason: "older value" }
  /** What ranks before it used up the budget. */
  | { readonly reason: "no room" };

export function whyOf({ block }: Pick<Inspection, "block">, id: string): Why {
  const tier = block.tiers.find(({ lines }) => lines.some((line) => line.id === id));
  if (tier) return { tier: tier.name };
  const { reason, tokens = 0, room = 0 } = block.leftOut.find((out) => out.id === id) ?? {};
  if (reason === "too long") return { reason, tokens, room };
  return { reason: reason ?? "no room" };
}
