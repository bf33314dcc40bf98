import { z } from "zod";
import { DECISION_KINDS } from "../../facts/decision.ts";
import { FACT_SCOPES, FactEdit, ForgetReason, TIERS, type Tier } from "../../facts/fact.ts";
import { OUTCOMES, Remember } from "../../facts/remember.ts";
import type { FactReview } from "../../facts/review.ts";
import type { FactService } from "../../facts/service.ts";
import { Id, Json, Nothing, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const section = "Facts";
const params = z.object({ factId: z.string() });
const Confidence = z.number().meta({ minimum: 0, maximum: 1 });
export const Scope = z.enum(FACT_SCOPES);
export const TierName = z.enum(Object.keys(TIERS) as [Tier, ...Tier[]]);
export const ArchivedReason = z.string().nullable();

const Statement = z.strictObject({
  factId: Id,
  value: Json,
  confidence: Confidence,
  sourceMessageId: z.string(),
  writtenBy: z.string(),
  reasoning: z.string().nullable(),
  observedAt: Time,
  createdAt: Time,
});

const FactEvent = z.strictObject({
  kind: z.string(),
  factId: z.string(),
  actor: z.string(),
  agentId: z.string(),
  reason: z.string().nullable(),
  at: Time,
  oldValue: Json.optional(),
  newValue: Json.optional(),
});

export const Fact = z
  .strictObject({
    factId: Id,
    scope: Scope,
    storeId: Id.optional(),
    userId: Id.optional(),
    agentId: z.string(),
    key: z.string(),
    value: Json,
    tags: z.array(z.string()),
    tier: TierName,
    confidence: Confidence,
    halfLifeDays: z.number(),
    score: z.number(),
    pinned: z.boolean(),
    firstSeen: Time,
    lastConfirmed: Time,
    confirmations: z.int(),
    contested: z.boolean(),
    fadesAt: Time.nullable(),
    expiresAt: Time.nullable(),
    state: z.enum(["live", "archived", "expired"]),
    archivedReason: ArchivedReason,
    supersededBy: Id.nullable(),
    statements: z.array(Statement).meta({ description: "Newest first" }),
    contradicts: z.array(z.strictObject({ factId: Id, value: Json })),
    events: z.array(FactEvent),
  })
  .meta({ id: "Fact", description: "A claim, and why it is believed" });

interface FactServices {
  readonly facts: FactService;
  readonly review: FactReview;
}

/** Facts: told, looked at, decided about, forgotten. */
export const factRoutes = ({ facts, review }: FactServices): Route[] => [
  route({
    method: "POST",
    url: "/v1/facts",
    id: "rememberFact",
    section,
    summary: "Remember a fact",
    description:
      "One claim under a dotted key. Nothing is overwritten: the same value again confirms, another one is contested until it is confirmed or somebody decides.",
    caller: "member",
    errors: ["NOT_FOUND", "CONFLICT"],
    idempotent: true,
    body: Remember.omit({ idempotencyKey: true }),
    example: { scope: "user", userId: "telegram:12345", key: "food.allergies", value: "nuts" },
    status: 201,
    answer: z.strictObject({
      factId: Id,
      outcome: z.enum(OUTCOMES),
      contradicts: z.array(z.strictObject({ factId: Id, value: Json })),
      score: z.number(),
    }),
    handle: ({ by, body, idempotencyKey }) => facts.remember(by, { ...body, idempotencyKey }),
  }),
  route({
    method: "GET",
    url: "/v1/facts/:factId",
    id: "getFact",
    section,
    summary: "A fact, and why it is believed",
    description: "With every statement, what it contradicts, and what happened to it.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params,
    answer: Fact,
    handle: ({ by, params: { factId } }) => facts.find(by, factId),
  }),
  route({
    method: "PATCH",
    url: "/v1/facts/:factId",
    id: "editFact",
    section,
    summary: "Replace a fact's value",
    description: "What was said before stays in its history. Of an org or a store: admin keys.",
    caller: "member",
    errors: ["FORBIDDEN", "NOT_FOUND"],
    params,
    body: FactEdit,
    example: { value: "nuts and sesame", reason: "told us on the phone" },
    answer: z.strictObject({
      factId: Id.meta({ description: "The row that holds the new value" }),
    }),
    handle: async ({ by, params: { factId }, body: { value, reason = null } }) => ({
      factId: await review.edit(by, factId, value, reason),
    }),
  }),
  route({
    method: "POST",
    url: "/v1/facts/:factId/decisions",
    id: "decideFact",
    section,
    summary: "Pin, archive, restore or settle a fact",
    description:
      "`settle` accepts it over its rivals, `keep_all` calls all living values true; `pin` keeps it from fading and expiring. Of an org or a store: admin keys.",
    caller: "member",
    errors: ["FORBIDDEN", "NOT_FOUND"],
    params,
    body: z.strictObject({
      decision: z.enum(DECISION_KINDS).exclude(["edit"]),
      reason: ForgetReason.optional(),
    }),
    example: { decision: "pin" },
    status: 204,
    answer: Nothing,
    handle: ({ by, params: { factId }, body: { decision, reason = null } }) =>
      review.decide(by, factId, decision, reason),
  }),
  route({
    method: "DELETE",
    url: "/v1/facts/:factId",
    id: "forgetFact",
    section,
    summary: "Forget a fact for good",
    description:
      "Erases it, every row that says the same under its key, and what the audit trail tells of it. `reason` stays: do not repeat the fact in it. Of an org or a store: admin keys.",
    caller: "member",
    errors: ["FORBIDDEN", "NOT_FOUND"],
    params,
    query: z.object({ reason: ForgetReason }),
    answer: z.strictObject({ factId: z.string(), count: z.int() }),
    handle: async ({ by, params: { factId }, query: { reason } }) => ({
      factId,
      count: await facts.forget(by, factId, reason),
    }),
  }),
];
