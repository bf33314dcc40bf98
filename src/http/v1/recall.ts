import { z } from "zod";
import { Recall } from "../../recall/query.ts";
import type { RecallService } from "../../recall/service.ts";
import { Id, Json, Time } from "./answers.ts";
import { Scope, TierName } from "./facts.ts";
import { type Route, route } from "./route.ts";

const section = "Facts";

const RecalledFact = z
  .strictObject({
    factId: Id,
    scope: Scope,
    agentId: z.string(),
    key: z.string(),
    value: Json,
    tags: z.array(z.string()),
    tier: TierName,
    confidence: z.number(),
    score: z
      .number()
      .meta({ description: "confidence × 0.5^(days since last confirmed / half-life)" }),
    halfLifeDays: z.number(),
    match: z.number().nullable().meta({ description: "How well its key answers the query" }),
    words: z.number().nullable().meta({ description: "Share of the query's words, 0 to 1" }),
    cosine: z.number().nullable(),
    rank: z.number(),
    sourceMessageId: z.string(),
    reasoning: z.string().nullable(),
    firstSeen: Time,
    lastConfirmed: Time,
    confirmations: z.int(),
    contested: z.boolean(),
    archived: z.boolean(),
  })
  .meta({ id: "RecalledFact" });

const RecalledMessage = z
  .strictObject({
    id: Id,
    speaker: z.string(),
    channel: z.string(),
    text: z.string(),
    sentAt: Time,
    match: z.number(),
    words: z.number(),
    cosine: z.number().nullable(),
  })
  .meta({ id: "RecalledMessage" });

const Recalled = z
  .strictObject({
    disabled: z.literal(true).optional(),
    degraded: z.string().optional(),
    stableBlock: z.string().meta({ description: "The rules, for the cached part of a prompt" }),
    memoryBlock: z.string(),
    tokens: z.int().meta({ description: "Of `memoryBlock`, counted on the high side" }),
    etag: z.string().meta({ description: "Changes exactly when a block's text does" }),
    facts: z.array(RecalledFact),
    messages: z.array(RecalledMessage),
  })
  .meta({ id: "Recalled" });

const Hit = z.strictObject({
  documentId: Id,
  match: z.number(),
  words: z.number(),
  cosine: z.number().nullable(),
});

const example = { userId: "telegram:12345", query: "what should I not cook?" };

/** What an agent is given to remember, and why. */
export const recallRoutes = (recalls: RecallService): Route[] => [
  route({
    method: "POST",
    url: "/v1/recall",
    id: "recall",
    section,
    summary: "Recall what is remembered",
    description:
      "Of a person, a store and the org: as text for a prompt and as data. With `query` what matches it by words or meaning, without it the strongest facts.",
    caller: "member",
    errors: ["NOT_FOUND"],
    body: Recall,
    example,
    answer: Recalled,
    handle: ({ by, body }) => recalls.recall(by, body),
  }),
  route({
    method: "POST",
    url: "/v1/recall/inspect",
    id: "inspectRecall",
    section,
    summary: "What an agent sees, and why",
    description: "The answer of a recall with the lines of each tier of its block, and every hit.",
    caller: "member",
    errors: ["NOT_FOUND"],
    body: Recall,
    example,
    answer: z.strictObject({
      answer: Recalled,
      tiers: z.array(
        z.strictObject({
          name: z.enum(["core", "working", "archival"]),
          tokens: z.int(),
          lines: z.array(z.strictObject({ id: Id, text: z.string(), tokens: z.int() })),
        }),
      ),
      hits: z.strictObject({ facts: z.array(Hit), messages: z.array(Hit) }),
    }),
    handle: async ({ by, body }) => {
      const { answer, block, hits } = await recalls.inspect(by, body);
      const tiers = block.tiers.map(({ name, tokens, lines }) => ({
        name,
        tokens,
        lines: lines.map(({ id, text, tokens: size }) => ({ id, text, tokens: size })),
      }));
      return { answer, tiers, hits };
    },
  }),
];
