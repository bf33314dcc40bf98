import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { IdempotencyKey } from "../idempotency/service.ts";
import { Instant } from "../instant.ts";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";
import { FactDraft, FactScopeName, MIN_CONFIDENCE, SourceMessageId } from "./fact.ts";

/** What a caller sends to have one claim remembered. */
export const Remember = FactDraft.extend({
  scope: FactScopeName,
  userId: UserId.optional(),
  storeId: StoreId.optional(),
  confidence: z.number().min(MIN_CONFIDENCE).max(1).default(0.8),
  sourceMessageId: SourceMessageId.optional(),
  observedAt: Instant.optional(),
  idempotencyKey: IdempotencyKey.optional(),
  agentId: AgentId.optional(),
});
export type Remember = z.output<typeof Remember>;

export const OUTCOMES = ["created", "confirmed", "contradicts"] as const;

export interface Remembered {
  /** The row made for this statement; the same one when the same source states the same again. */
  readonly factId: string;
  /**
   * What the statement did when it was made. `confirmed` may come with contradictions of others; of `contradicts` a machine
   * may find later that both mean the same.
   */
  readonly outcome: (typeof OUTCOMES)[number];
  /** Live claims of another value under the same key, newest first. */
  readonly contradicts: readonly { readonly factId: string; readonly value: unknown }[];
  /** Of the claim that the statement belongs to, when it was made; 0 to 1. */
  readonly score: number;
}
