import { z } from "zod";
import type { Principal } from "./principal.ts";

/** A plain string namespace: who remembers. */
export const AgentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63");

/** The agent that a call speaks for: the key's pin, else what the call says, else the key's default. */
export function agentOf(principal: Principal, agentId: string | undefined): string {
  return principal.pins.agentId ?? agentId ?? principal.defaultAgent;
}
