import { z } from "zod";
import {
  ComparisonQuery,
  CorrectionFact,
  TurnQuery,
  type TurnService,
  UsageQuery,
} from "../../turns/service.ts";
import { TURN_STATES } from "../../turns/turn.ts";
import { Id, NextBefore, Nothing, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const Turn = z
  .strictObject({
    id: Id,
    userId: Id,
    storeId: Id.nullable(),
    agentId: z.string(),
    channel: z.string(),
    account: z.string(),
    conversationId: z.string(),
    state: z.enum(TURN_STATES),
    reason: z.string().nullable().meta({ description: "Why it was skipped, waits or is dead" }),
    openedAt: Time,
    lastMessageAt: Time,
    closedAt: Time.nullable(),
    extractedAt: Time.nullable(),
    isCorrection: z.boolean(),
    arm: z.enum(["on", "off"]),
    thumb: z.enum(["up", "down"]).nullable(),
    regenerated: z.boolean(),
    model: z.string().nullable(),
    inputTokens: z.int().nullable(),
    outputTokens: z.int().nullable(),
    factCount: z.int().nullable(),
    dropped: z
      .record(z.string(), z.number())
      .meta({ description: "Drafts that were dropped, by reason" }),
  })
  .meta({
    id: "Turn",
    description: "A turn and what was learned from it; ids and counts, no texts",
  });

const Arm = z.strictObject({
  turns: z.int(),
  up: z.int(),
  down: z.int(),
  regenerated: z.int(),
  upRate: z.number().nullable(),
  regeneratedRate: z.number().nullable(),
});

const PendingCorrection = z
  .strictObject({
    turn: Turn,
    corrects: z.string().nullable().meta({ description: "What the assistant had said before" }),
    messages: z.array(
      z.strictObject({
        id: Id,
        direction: z.enum(["inbound", "outbound"]),
        text: z.string().nullable(),
        sentAt: Time,
      }),
    ),
  })
  .meta({ id: "PendingCorrection" });

const params = z.object({ turnId: z.string() });

/** Turns and what was learned from them: what waits, what failed, corrections for a person, arms compared, tokens. */
export const turnRoutes = (turns: TurnService): Route[] => [
  route({
    method: "GET",
    url: "/v1/turns",
    id: "listTurns",
    section: "Operations",
    summary: "Turns by what became of them",
    description: "Newest first; `dead` ones wait for somebody.",
    caller: "admin",
    query: TurnQuery,
    answer: z.strictObject({ turns: z.array(Turn), nextBefore: NextBefore }),
    handle: ({ by, query }) => turns.list(by, query),
  }),
  route({
    method: "POST",
    url: "/v1/turns/:turnId/retry",
    id: "retryTurn",
    section: "Operations",
    summary: "Learn from a dead turn after all",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT"],
    params,
    answer: Turn,
    handle: ({ by, params: { turnId } }) => turns.retry(by, turnId),
  }),
  route({
    method: "POST",
    url: "/v1/turns/retry",
    id: "retryTurns",
    section: "Operations",
    summary: "Learn from every dead turn after all",
    caller: "admin",
    errors: ["CONFLICT"],
    answer: z.strictObject({ retried: z.int() }),
    handle: ({ by }) => turns.retryAll(by),
  }),
  route({
    method: "GET",
    url: "/v1/turns/usage",
    id: "extractionUsage",
    section: "Operations",
    summary: "What extraction took, by day",
    description: "Newest day first (UTC).",
    caller: "admin",
    query: UsageQuery,
    answer: z.strictObject({
      days: z.array(
        z.strictObject({
          day: z.string().meta({ format: "date" }),
          turns: z.int(),
          inputTokens: z.int(),
          outputTokens: z.int(),
        }),
      ),
    }),
    handle: async ({ by, query }) => ({ days: await turns.usage(by, query.days) }),
  }),
  route({
    method: "GET",
    url: "/v1/corrections",
    id: "listCorrections",
    section: "Facts",
    summary: "Corrections that nothing was learned from",
    description: "The newest 50: there was no extractor, or it gave up. With what was said.",
    caller: "admin",
    answer: z.strictObject({ corrections: z.array(PendingCorrection) }),
    handle: async ({ by }) => ({ corrections: await turns.pendingCorrections(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/corrections/:turnId/fact",
    id: "rememberCorrection",
    section: "Facts",
    summary: "Remember what a correction says",
    description: "As a fact of its person, with that message as its source.",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT"],
    params,
    body: CorrectionFact,
    example: { key: "food.allergies", value: "sesame" },
    status: 204,
    answer: Nothing,
    handle: ({ by, params: { turnId }, body }) => turns.remember(by, turnId, body),
  }),
  route({
    method: "DELETE",
    url: "/v1/corrections/:turnId",
    id: "dismissCorrection",
    section: "Facts",
    summary: "Lay a correction aside",
    caller: "admin",
    errors: ["NOT_FOUND"],
    params,
    status: 204,
    answer: Nothing,
    handle: ({ by, params: { turnId } }) => turns.dismiss(by, turnId),
  }),
  route({
    method: "GET",
    url: "/v1/ab",
    id: "compareArms",
    section: "Operations",
    summary: "Turns with memory and without, compared",
    description: "By default of the last 90 days.",
    caller: "admin",
    query: ComparisonQuery,
    answer: z.strictObject({ since: Time, arms: z.strictObject({ on: Arm, off: Arm }) }),
    handle: ({ by, query }) => turns.compare(by, query),
  }),
];
