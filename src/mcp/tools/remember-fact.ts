import { z } from "zod";
import { OUTCOMES, Remember } from "../../facts/remember.ts";
import type { FactService } from "../../facts/service.ts";
import { defineTool } from "../tool.ts";

const { shape } = Remember;

export const rememberFact = (facts: FactService) =>
  defineTool({
    name: "remember_fact",
    title: "Remember one fact",
    description:
      "Remembers one claim for later: a preference, constraint, decision, identity detail. One per call, under a dotted key " +
      "that names the slot; values that may coexist get a key each (likes.tea, likes.jazz). Nothing is overwritten: the same " +
      "value again confirms, another one is contested. About somebody else's site: key watch.<site>.<topic>. Not for secrets, " +
      "small talk, recalled text, or state read back by key (update_memory). Returns what it did and the live claims it " +
      "contradicts.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    alwaysLoad: true,
    input: z.strictObject({
      scope: shape.scope.describe("user needs userId, store storeId, org neither"),
      key: shape.key.describe("e.g. food.allergies"),
      value: shape.value.describe("Any JSON"),
      userId: shape.userId,
      storeId: shape.storeId,
      confidence: shape.confidence,
      tags: shape.tags,
      tier: shape.tier.describe("How long it matters; default preference"),
      halfLifeDays: shape.halfLifeDays,
      ttlDays: shape.ttlDays,
      reasoning: shape.reasoning,
      sourceMessageId: shape.sourceMessageId,
      observedAt: shape.observedAt.describe("ISO 8601; default now"),
      idempotencyKey: shape.idempotencyKey,
      agentId: shape.agentId,
    }),
    output: z.strictObject({
      factId: z.string(),
      outcome: z.enum(OUTCOMES),
      contradicts: z.array(z.strictObject({ factId: z.string(), value: z.unknown() })),
      score: z.number(),
    }),
    async handle(input, { principal }) {
      const { contradicts, ...answer } = await facts.remember(principal, input);
      return { ...answer, contradicts: [...contradicts] };
    },
  });
