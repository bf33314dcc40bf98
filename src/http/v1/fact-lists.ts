import { z } from "zod";
import { AgentId } from "../../access/agent.ts";
import { DuplicatePair, type Duplicates, DuplicatesQuery } from "../../facts/duplicates.ts";
import type { Explanations } from "../../facts/explanation.ts";
import { InboxQuery, type OrgReview, WatchQuery } from "../../facts/org-review.ts";
import type { FactReview } from "../../facts/review.ts";
import { StoreId } from "../../orgs/service.ts";
import { UserId } from "../../users/person.ts";
import { Id, Json, NextBefore, Nothing, Time } from "./answers.ts";
import { ArchivedReason, Fact, Scope, TierName } from "./facts.ts";
import { type Route, route } from "./route.ts";

const section = "Facts";

/** An address has words alone. */
const Flag = z.enum(["true", "false"]).transform((text) => text === "true");

const FactListQuery = z.strictObject({
  scope: Scope,
  userId: UserId.optional(),
  storeId: StoreId.optional(),
  agentId: AgentId.optional(),
  tier: TierName.optional(),
  tag: z.string().min(1).max(40).optional(),
  pinned: Flag.optional(),
  contested: Flag.optional(),
  search: z.string().trim().min(1).max(400).optional(),
  all: Flag.optional(),
  archived: Flag.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.string().max(200).optional(),
});

const listed = {
  factId: Id,
  scope: Scope,
  agentId: z.string(),
  key: z.string(),
  value: Json,
  tags: z.array(z.string()),
  tier: TierName,
  confidence: z.number(),
  score: z.number(),
  confirmations: z.int(),
  contested: z.boolean(),
  pinned: z.boolean(),
  firstSeen: Time,
  lastConfirmed: Time,
  fadesAt: Time.nullable(),
  expiresAt: Time.nullable(),
  archivedReason: ArchivedReason,
  reasoning: z.string().nullable(),
  sourceMessageId: z.string(),
};
const ListedFact = z.strictObject(listed).meta({ id: "ListedFact" });
const owner = { userId: Id.optional(), storeId: Id.optional() };
const ClaimCard = z
  .strictObject({ ...listed, ...owner })
  .meta({ id: "ClaimCard", description: "A fact in a list, with whose it is" });

const Source = z
  .union([
    z.strictObject({ kind: z.enum(["call", "edit", "gone", "hidden"]) }),
    z.strictObject({ kind: z.literal("named"), name: z.string() }),
    z.strictObject({
      kind: z.literal("message"),
      messageId: Id,
      userId: Id.nullable(),
      personName: z.string().nullable(),
      direction: z.enum(["inbound", "outbound"]),
      messageKind: z.string(),
      channel: z.string(),
      sentAt: Time,
      text: z.string().nullable(),
      optedOut: z.boolean(),
      edited: z.boolean(),
    }),
  ])
  .meta({
    id: "FactSource",
    description: "Where a statement comes from, as far as the key may see",
  });

const Sourced = z
  .strictObject({
    factId: Id,
    value: Json,
    confidence: z.number(),
    sourceMessageId: z.string(),
    isCorrection: z.boolean(),
    writtenBy: z.string(),
    reasoning: z.string().nullable(),
    observedAt: Time,
    source: Source,
  })
  .meta({ id: "Statement" });

const Contest = z
  .strictObject({
    scope: Scope,
    ...owner,
    agentId: z.string(),
    key: z.string(),
    values: z.array(
      z.strictObject({
        factId: Id,
        value: Json,
        confidence: z.number(),
        score: z.number(),
        confirmations: z.int(),
        firstSeen: Time,
        lastConfirmed: Time,
        statements: z.array(Sourced),
      }),
    ),
    more: z.int(),
    mayDecide: z.boolean(),
  })
  .meta({ id: "Contest", description: "A key with values that speak against each other" });

const Explanation = z
  .strictObject({
    fact: Fact,
    statements: z.array(Sourced),
    rivals: z.array(
      z.strictObject({
        factId: Id,
        value: Json,
        isLive: z.boolean(),
        lastConfirmed: Time,
        statements: z.array(Sourced),
      }),
    ),
    decisions: z.array(
      z.strictObject({ kind: z.string(), factId: Id, at: Time, actor: z.string() }),
    ),
    ttlDays: z.number().nullable(),
    curve: z
      .strictObject({
        from: Time,
        until: Time,
        now: Time,
        points: z.array(z.strictObject({ at: Time, score: z.number() })),
        said: z.array(Time),
      })
      .optional()
      .meta({ description: "Its score over time" }),
  })
  .meta({ id: "Explanation" });

export interface FactListServices {
  readonly review: FactReview;
  readonly orgReview: OrgReview;
  readonly duplicates: Duplicates;
  readonly explanations: Explanations;
}

/** Facts as people look through them: of a scope, what waits for a decision, and why one is believed. */
export const factListRoutes = ({
  review,
  orgReview,
  duplicates,
  explanations,
}: FactListServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/facts",
    id: "listFacts",
    section,
    summary: "The facts of a scope",
    description:
      "Strongest first: live ones above a score of 0.5, and pinned ones. `all` adds weaker and archived ones, `archived` shows those alone.",
    caller: "member",
    errors: ["NOT_FOUND"],
    query: FactListQuery,
    answer: z.strictObject({ facts: z.array(ListedFact), nextBefore: NextBefore }),
    handle: ({ by, query: { scope, userId, storeId, ...query } }) =>
      review.list(by, { scope, userId, storeId }, query),
  }),
  route({
    method: "GET",
    url: "/v1/facts/:factId/explanation",
    id: "explainFact",
    section,
    summary: "Why a fact is believed, with its messages",
    description:
      "Every statement with the message it comes from, the values that speak against it, what was decided, and its score over time.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: z.object({ factId: z.string() }),
    answer: Explanation,
    handle: ({ by, params: { factId } }) => explanations.explain(by, factId),
  }),
  route({
    method: "GET",
    url: "/v1/inbox",
    id: "listContradictions",
    section,
    summary: "Contradictions that wait for a decision",
    description: "Newest first, as far as the key may see. Decide with `settle` or `keep_all`.",
    caller: "member",
    query: InboxQuery,
    answer: z.strictObject({ contests: z.array(Contest), nextBefore: NextBefore }),
    handle: ({ by, query }) => orgReview.contradictions(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/watch",
    id: "listWatchFacts",
    section,
    summary: "What was learned of other sites",
    description: "Newest first; of one site with `site`.",
    caller: "member",
    query: WatchQuery,
    answer: z.strictObject({ facts: z.array(ClaimCard), nextBefore: NextBefore }),
    handle: ({ by, query }) => orgReview.watch(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/duplicates",
    id: "listDuplicates",
    section,
    summary: "Facts that may say the same under two keys",
    description: "The most alike first. No machine merges them.",
    caller: "member",
    query: DuplicatesQuery,
    answer: z.strictObject({
      duplicates: z.array(
        z.strictObject({
          first: ClaimCard,
          second: ClaimCard,
          likeness: z.number(),
          foundAt: Time,
          mayDecide: z.boolean(),
        }),
      ),
      nextBefore: NextBefore,
    }),
    handle: ({ by, query }) => duplicates.list(by, query),
  }),
  route({
    method: "POST",
    url: "/v1/duplicates/dismiss",
    id: "dismissDuplicate",
    section,
    summary: "Say that two facts are two things",
    description: "They are not shown again. Of an org or a store: admin keys.",
    caller: "member",
    errors: ["FORBIDDEN", "NOT_FOUND"],
    body: DuplicatePair,
    example: {
      firstId: "019a3c5e-7b1f-7c44-9a51-0242ac120002",
      secondId: "019a3c5e-7b1f-7c44-9a51-0242ac120003",
    },
    status: 204,
    answer: Nothing,
    handle: ({ by, body }) => duplicates.dismiss(by, body),
  }),
];
