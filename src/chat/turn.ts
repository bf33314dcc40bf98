import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { ChannelName } from "../channels/account.ts";
import { IdempotencyKey } from "../idempotency/service.ts";
import { Instant } from "../instant.ts";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";
import { storable } from "./message.ts";

/** Two of these fit into a request to `/mcp` (4 MiB), also with every character escaped to six bytes. */
const MAX_TURN_TEXT = 262_144;

/** Archived whatever it holds: what cannot be stored becomes U+FFFD. */
const ArchivedText = z.string().min(1).max(MAX_TURN_TEXT).transform(storable);

/** A user's message with the assistant's answer, from a runtime that has no webhook. */
export const Turn = z.strictObject({
  userId: UserId,
  storeId: StoreId.optional(),
  channel: ChannelName,
  conversationId: z.string().min(1).max(256).optional(),
  userMessage: ArchivedText,
  assistantMessage: ArchivedText,
  observedAt: Instant.optional(),
  idempotencyKey: IdempotencyKey.optional(),
  feedback: z
    .strictObject({ thumb: z.enum(["up", "down"]).optional(), regenerated: z.boolean().optional() })
    .optional(),
  agentId: AgentId.optional(),
});
export type Turn = z.output<typeof Turn>;

export interface ArchivedTurn {
  readonly userMessageId: string;
  readonly assistantMessageId: string;
  readonly sentAt: string;
}
