import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { DECISION_KINDS } from "../facts/decision.ts";
import { FactKey, FactScopeName, TIERS, type Tier } from "../facts/fact.ts";
import { At, Count, Id, Json, Short, Text } from "./fields.ts";

const TierName = z.enum(Object.keys(TIERS) as [Tier, ...Tier[]]);
const Confidence = z.number().min(0).max(1);
const Days = z.number().positive();
/** A claim has the tags of all its statements. */
const Tags = z.array(Short);

/** One statement: what was said … */
const SAID = {
  id: Id,
  agentId: AgentId,
  key: FactKey,
  value: Json,
  confidence: Confidence,
  tags: Tags,
  tier: TierName,
  halfLifeDays: Days,
  ttlDays: Days.nullable(),
  reasoning: Text.nullable(),
  sourceMessageId: Short,
  sourceReason: z.enum(["user-correction"]).nullable(),
  conversation: Short.nullable(),
  writtenBy: Short,
  observedAt: At,
  createdAt: At,
  withdrawnAt: At.nullable(),
};

/** … and the state that the fold of its key gave it, which follows from all statements and decisions of the key. */
const STATE = {
  mergedInto: Id.nullable(),
  archivedAt: At.nullable(),
  archivedReason: z
    .enum(["merged", "superseded", "faded", "edited", "archived", "withdrawn"])
    .nullable(),
  supersededBy: Id.nullable(),
  pinned: z.boolean(),
  contested: z.boolean(),
  confirmationCount: Count,
  claimConfidence: Confidence.nullable(),
  claimTags: Tags.nullable(),
  claimTier: TierName.nullable(),
  claimHalfLifeDays: Days.nullable(),
  lastConfirmedAt: At.nullable(),
  fadesAt: At.nullable(),
  expiresAt: At.nullable(),
};
/** What each server folds by itself. */
export const STATE_FIELDS: readonly string[] = Object.keys(STATE);

const OWNER = {
  scope: FactScopeName,
  storeId: Id.nullable(),
  userId: Id.nullable(),
};

export const FACT_ROWS = {
  /** What people decided about facts, and which ones a model found alike. */
  decisions: z.strictObject({
    id: Id,
    ...OWNER,
    agentId: AgentId,
    key: FactKey,
    kind: z.enum([...DECISION_KINDS, "alike"]),
    factId: Id,
    replacedBy: Id.nullable(),
    actor: Short,
    at: At,
  }),
  orgFacts: z.strictObject({ ...SAID, ...STATE }),
  storeFacts: z.strictObject({ storeId: Id, ...SAID, ...STATE }),
  userFacts: z.strictObject({ userId: Id, identityId: Id.nullable(), ...SAID, ...STATE }),
  /** What happened to facts, by whom and why. */
  events: z.strictObject({
    id: Id,
    kind: Short,
    ...OWNER,
    factId: Id,
    actor: Short,
    agentId: Short,
    reason: Text.nullable(),
    oldValue: Json.optional(),
    newValue: Json.optional(),
    at: At,
  }),
} as const;
