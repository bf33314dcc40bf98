import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { IdempotencyKey } from "../idempotency/service.ts";
import { Instant } from "../instant.ts";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";

/** Telegram's rich messages, the longest of any channel, have 32,768 characters; an answer may be longer. */
const MAX_TURN_TEXT = 65_536;

const ChannelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63");

/** A user's message with the assistant's answer, from a runtime that has no webhook. */
export const Turn = z.strictObject({
  userId: UserId,
  storeId: StoreId.optional(),
  channel: ChannelName,
  conversationId: z.string().min(1).max(256).optional(),
  userMessage: z.string().min(1).max(MAX_TURN_TEXT),
  assistantMessage: z.string().min(1).max(MAX_TURN_TEXT),
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
