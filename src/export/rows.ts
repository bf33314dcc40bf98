import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { KEY_ROLES } from "../access/principal.ts";
import { ChannelName } from "../channels/account.ts";
import { Direction, MessageKind } from "../chat/message.ts";
import { EntryKey } from "../kv/entry.ts";
import { Slug } from "../orgs/service.ts";
import { ExternalId } from "../users/person.ts";
import { FACT_ROWS } from "./fact-rows.ts";
import { At, Count, Day, Id, Json, Short, Text } from "./fields.ts";

const AuditEvent = z.strictObject({
  id: Id,
  at: At,
  actor: Short,
  action: Short,
  subjectKind: Short,
  subjectId: Short,
  reason: Text.nullable(),
  details: Json.optional(),
});

/**
 * What an export holds, section by section, and in this order: what a row refers to comes before it. The fields are those
 * of the tables; JSON that is not there leaves its field out, since null is a value.
 */
export const SECTIONS = {
  /** How the org uses memory. */
  settings: z.strictObject({
    memoryEnabled: z.boolean(),
    memoryOffShare: z.number().min(0).max(1),
    extractionDailyLimit: Count.nullable(),
  }),
  stores: z.strictObject({ id: Id, slug: Slug, name: Text, createdAt: At }),
  /** People; who was linked to another one comes behind those who were not. */
  users: z.strictObject({
    id: Id,
    role: z.enum(["customer", "operator"]),
    status: z.enum(["pending", "approved", "blocked"]),
    username: Text.nullable(),
    firstName: Text.nullable(),
    createdAt: At,
    approvedAt: At.nullable(),
    linkedInto: Id.nullable(),
  }),
  identities: z.strictObject({
    id: Id,
    userId: Id,
    channel: ChannelName,
    externalId: ExternalId,
    username: Text.nullable(),
    firstName: Text.nullable(),
    createdAt: At,
    unreachableAt: At.nullable(),
  }),
  /** The journal of links, and which identities each of them moved. */
  links: z.strictObject({
    id: Id,
    fromUserId: Id,
    toUserId: Id,
    proof: z.enum(["code", "assertion", "admin", "platform"]),
    actor: Short,
    reason: Text.nullable(),
    at: At,
    undoneAt: At.nullable(),
    undoneBy: Short.nullable(),
  }),
  linkMoves: z.strictObject({ linkId: Id, identityId: Id }),
  /** A person's key-value map; an entry for each identity that wrote the key, of which the latest counts. */
  entries: z.strictObject({
    userId: Id,
    identityId: Id.nullable(),
    key: EntryKey,
    value: Json,
    writtenBy: Short,
    agentId: AgentId,
    createdAt: At,
    updatedAt: At,
  }),
  /** Bots and phone numbers. Their secrets are in the environment, under these names. */
  channelAccounts: z.strictObject({
    id: Id,
    storeId: Id.nullable(),
    channel: ChannelName,
    account: Short,
    secretVariable: Short,
    tokenVariable: Short.nullable(),
    verifyVariable: Short.nullable(),
    forwardUrl: Text.nullable(),
    forwardSecretVariable: Short.nullable(),
    autoApprove: z.boolean(),
    createdAt: At,
  }),
  /** Every version of the rules; without a store the org's own. */
  rules: z.strictObject({
    id: Id,
    storeId: Id.nullable(),
    version: z.int32().positive(),
    text: Text,
    tokens: Count,
    reason: Text.nullable(),
    createdBy: Short,
    createdAt: At,
  }),
  messages: z.strictObject({
    id: Id,
    userId: Id.nullable(),
    identityId: Id.nullable(),
    storeId: Id.nullable(),
    conversationId: Short,
    channel: ChannelName,
    account: Short,
    direction: Direction,
    kind: MessageKind,
    text: Text.nullable(),
    payload: Json,
    platformMessageId: Short.nullable(),
    turnId: Id.nullable(),
    forwarded: z.boolean(),
    optedOut: z.boolean(),
    deliveryStatus: z.enum(["sending", "sent", "delivered", "read", "failed"]).nullable(),
    sentAt: At,
    archivedAt: At,
    editedAt: At.nullable(),
  }),
  /** What messages said before they were edited; 0 is the original. */
  revisions: z.strictObject({
    messageId: Id,
    revision: Count,
    text: Text.nullable(),
    payload: Json,
    replacedAt: At,
  }),
  turns: z.strictObject({
    id: Id,
    userId: Id,
    storeId: Id.nullable(),
    agentId: AgentId,
    channel: ChannelName,
    account: Short,
    conversationId: Short,
    state: z.enum(["open", "closed", "extracted", "skipped", "dead"]),
    reason: Text.nullable(),
    openedAt: At,
    lastMessageAt: At,
    closedAt: At.nullable(),
    extractedAt: At.nullable(),
    isCorrection: z.boolean(),
    arm: z.enum(["on", "off"]),
    thumb: z.enum(["up", "down"]).nullable(),
    regenerated: z.boolean(),
    model: Short.nullable(),
    inputTokens: Count.nullable(),
    outputTokens: Count.nullable(),
    factCount: Count.nullable(),
    dropped: Json.optional(),
  }),
  ...FACT_ROWS,
  /** Who did what to whom. */
  audit: AuditEvent,
  /** What extractions took, by day. */
  usage: z.strictObject({
    day: Day,
    turns: Count,
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
  }),
} as const;
export type SectionName = keyof typeof SECTIONS;

/**
 * What an export only lists: it tells of the server that it was made on, or belongs to others too. An import reads over
 * it.
 */
export const LISTED = {
  /** API keys without what they open with. */
  keys: z.strictObject({
    id: Id,
    name: Text,
    role: z.enum(KEY_ROLES),
    defaultAgent: Short,
    pinnedUserId: Id.nullable(),
    pinnedStoreId: Id.nullable(),
    pinnedAgent: Short.nullable(),
    createdAt: At,
    lastUsedAt: At.nullable(),
    revokedAt: At.nullable(),
  }),
  /** Who did what to the org and its keys, who took exports, this one too, and who imported. */
  operations: AuditEvent,
  /** How much was remembered, as the server counted it by day. */
  counts: z.strictObject({ day: Day, countedAt: At, counts: Json }),
  /** What was erased: ids and counts, no content. */
  erasures: z.strictObject({
    id: Id,
    position: z.int32(),
    kind: Short,
    subjectId: Short,
    state: Short,
    requestedBy: Short,
    requestedAt: At,
    erasedAt: At.nullable(),
    verifiedAt: At.nullable(),
    scrubbedAt: At.nullable(),
    report: Json.optional(),
    previousHash: Short.nullable(),
    hash: Short.nullable(),
  }),
  /** Facts of the org and of its stores that the person's messages are a source of. */
  orgFactsFromMessages: FACT_ROWS.orgFacts,
  storeFactsFromMessages: FACT_ROWS.storeFacts,
} as const;
export type ListedName = keyof typeof LISTED;

export type AnySection = SectionName | ListedName;
export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];
export const LISTED_NAMES = Object.keys(LISTED) as ListedName[];

/** The fields of a section's rows, in the order in which they are written. */
export function fieldsOf(section: AnySection): readonly string[] {
  return Object.keys(schemaOf(section).shape);
}

export function schemaOf(section: AnySection): z.ZodObject {
  return section in SECTIONS ? SECTIONS[section as SectionName] : LISTED[section as ListedName];
}
