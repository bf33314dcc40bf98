import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgTable,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { byteText, id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { dueIndexes, liveIndexes } from "./fact-indexes.ts";
import { orgs, stores } from "./orgs.ts";
import { channelIdentities, users } from "./users.ts";

/** Why a row is not live: merged rows have a survivor instead. */
const ARCHIVED_REASONS = [
  "merged",
  "superseded",
  "faded",
  "edited",
  "archived",
  "withdrawn",
] as const;

/** The columns that facts of every scope share. */
const factColumns = () => ({
  id: id(),
  agentId: text("agent_id").notNull(),
  key: text().notNull(),
  value: jsonText().notNull(),
  /** Key, tags and value in lower case without accents, for text search that needs no extension. */
  searchText: text("search_text").notNull(),
  confidence: doublePrecision().notNull(),
  tags: text().array().notNull(),
  tier: text().notNull(),
  halfLifeDays: doublePrecision("half_life_days").notNull(),
  ttlDays: doublePrecision("ttl_days"),
  reasoning: text(),
  /**
   * Where the claim comes from: a message's id, or one the server made for a call that named none. In byte order, so that
   * the range of a message's revisions (`<id>#…`) is an index range under any locale.
   */
  sourceMessageId: byteText("source_message_id").notNull(),
  /** Why the source weighs more than others, e.g. that it corrects the assistant. */
  sourceReason: text("source_reason", { enum: ["user-correction"] }),
  /** Of the conversation that the source belongs to, a hash: within an hour it confirms once. */
  conversation: text(),
  writtenBy: text("written_by").notNull(),
  observedAt: instant("observed_at").notNull(),
  createdAt: instant("created_at").notNull(),
  /** The source was edited since: what it said before counts no more. */
  withdrawnAt: instant("withdrawn_at"),

  // What follows is the state that the key's fold gives this row, as consolidation last wrote it.

  /** Null = the key changed since; consolidation has to fold it again. */
  consolidatedAt: instant("consolidated_at"),
  /** The row that speaks for this one. The columns from `pinned` to `expires_at` are kept on that row only. */
  mergedInto: uuid("merged_into"),
  archivedAt: instant("archived_at"),
  archivedReason: text("archived_reason", { enum: ARCHIVED_REASONS }),
  supersededBy: uuid("superseded_by"),
  pinned: boolean().notNull().default(false),
  contested: boolean().notNull().default(false),
  confirmationCount: integer("confirmation_count").notNull().default(1),
  claimConfidence: doublePrecision("claim_confidence"),
  claimTags: text("claim_tags").array(),
  claimTier: text("claim_tier"),
  claimHalfLifeDays: doublePrecision("claim_half_life_days"),
  lastConfirmedAt: instant("last_confirmed_at"),
  fadesAt: instant("fades_at"),
  expiresAt: instant("expires_at"),
});

export const orgFacts = pgTable(
  "org_facts",
  {
    ...factColumns(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
  },
  (t) => [
    unique("org_facts_source").on(t.orgId, t.agentId, t.key, t.sourceMessageId),
    index("org_facts_time_idx").on(t.orgId, t.observedAt),
    index("org_facts_message_idx").on(t.orgId, t.sourceMessageId),
    unique("org_facts_org_id").on(t.orgId, t.id),
    ...dueIndexes("org_facts", t),
    ...liveIndexes("org_facts", t, t.orgId),
    check("org_facts_confidence", sql`${t.confidence} between 0 and 1`),
    tenantPolicy("org_facts"),
  ],
);

export const storeFacts = pgTable(
  "store_facts",
  {
    ...factColumns(),
    orgId: uuid("org_id").notNull(),
    storeId: uuid("store_id").notNull(),
  },
  (t) => [
    unique("store_facts_source").on(t.storeId, t.agentId, t.key, t.sourceMessageId),
    index("store_facts_time_idx").on(t.storeId, t.observedAt),
    index("store_facts_message_idx").on(t.orgId, t.sourceMessageId),
    unique("store_facts_org_id").on(t.orgId, t.id),
    ...dueIndexes("store_facts", t),
    ...liveIndexes("store_facts", t, t.storeId),
    check("store_facts_confidence", sql`${t.confidence} between 0 and 1`),
    foreignKey({
      name: "store_facts_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("store_facts"),
  ],
);

export const userFacts = pgTable(
  "user_facts",
  {
    ...factColumns(),
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    identityId: uuid("identity_id"),
  },
  (t) => [
    unique("user_facts_source").on(t.userId, t.agentId, t.key, t.sourceMessageId),
    index("user_facts_time_idx").on(t.userId, t.observedAt),
    index("user_facts_message_idx").on(t.orgId, t.sourceMessageId),
    unique("user_facts_org_id").on(t.orgId, t.id),
    ...dueIndexes("user_facts", t),
    ...liveIndexes("user_facts", t, t.userId),
    check("user_facts_confidence", sql`${t.confidence} between 0 and 1`),
    index("user_facts_identity_idx").on(t.identityId),
    foreignKey({
      name: "user_facts_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "user_facts_identity_fk",
      columns: [t.orgId, t.identityId],
      foreignColumns: [channelIdentities.orgId, channelIdentities.id],
    }).onDelete("cascade"),
    tenantPolicy("user_facts"),
  ],
);

/** A fact table as its shared columns have it. */
export type FactTable = typeof orgFacts;

/** Each scope's table and the column of the org, store or person that its facts belong to. */
export const factTables = {
  org: { table: orgFacts, owner: orgFacts.orgId },
  store: { table: storeFacts as unknown as FactTable, owner: storeFacts.storeId },
  user: { table: userFacts as unknown as FactTable, owner: userFacts.userId },
};

/** The columns that a fact is read by. */
export function factRowOf(table: FactTable) {
  return {
    id: table.id,
    agentId: table.agentId,
    key: table.key,
    value: table.value,
    searchText: table.searchText,
    confidence: table.confidence,
    tags: table.tags,
    tier: table.tier,
    halfLifeDays: table.halfLifeDays,
    ttlDays: table.ttlDays,
    reasoning: table.reasoning,
    sourceMessageId: table.sourceMessageId,
    sourceReason: table.sourceReason,
    conversation: table.conversation,
    writtenBy: table.writtenBy,
    observedAt: table.observedAt,
    createdAt: table.createdAt,
    withdrawnAt: table.withdrawnAt,
    consolidatedAt: table.consolidatedAt,
    mergedInto: table.mergedInto,
    archivedAt: table.archivedAt,
    archivedReason: table.archivedReason,
    supersededBy: table.supersededBy,
    pinned: table.pinned,
    contested: table.contested,
    confirmationCount: table.confirmationCount,
    claimConfidence: table.claimConfidence,
    claimTags: table.claimTags,
    claimTier: table.claimTier,
    claimHalfLifeDays: table.claimHalfLifeDays,
    lastConfirmedAt: table.lastConfirmedAt,
    fadesAt: table.fadesAt,
    expiresAt: table.expiresAt,
  };
}

/**
 * What people decided about claims, as inputs of the fold: a row that arrives late finds them at their time. They hold
 * ids, never values.
 */
export const factDecisions = pgTable(
  "fact_decisions",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    scope: text({ enum: ["org", "store", "user"] }).notNull(),
    storeId: uuid("store_id"),
    userId: uuid("user_id"),
    agentId: text("agent_id").notNull(),
    key: text().notNull(),
    kind: text({
      enum: ["settle", "keep_all", "edit", "pin", "unpin", "archive", "restore", "alike"],
    }).notNull(),
    factId: uuid("fact_id").notNull(),
    /** Of an edit: the row with the new value. Of `alike`: the other row, which a model finds to mean the same. */
    replacedBy: uuid("replaced_by"),
    actor: text().notNull(),
    at: instant("at").notNull(),
  },
  (t) => [
    index("fact_decisions_org_idx").on(t.orgId, t.agentId, t.key).where(sql`${t.scope} = 'org'`),
    index("fact_decisions_store_idx").on(t.storeId, t.agentId, t.key),
    index("fact_decisions_user_idx").on(t.userId, t.agentId, t.key),
    check("fact_decisions_scope", sql`${t.scope} in ('org', 'store', 'user')`),
    check(
      "fact_decisions_kind",
      sql`${t.kind} in ('settle', 'keep_all', 'edit', 'pin', 'unpin', 'archive', 'restore', 'alike')`,
    ),
    foreignKey({
      name: "fact_decisions_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "fact_decisions_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("fact_decisions"),
  ],
);

/** What happened to a fact, by whom and why. Scope ids carry no foreign key: a tombstone outlives its person. */
export const memoryEvents = pgTable(
  "memory_events",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    kind: text().notNull(),
    scope: text({ enum: ["org", "store", "user"] }).notNull(),
    storeId: uuid("store_id"),
    userId: uuid("user_id"),
    factId: uuid("fact_id").notNull(),
    actor: text().notNull(),
    agentId: text("agent_id").notNull(),
    reason: text(),
    oldValue: jsonText("old_value"),
    newValue: jsonText("new_value"),
    at: instant("at").notNull(),
  },
  (t) => [
    index("memory_events_fact_idx").on(t.orgId, t.factId, t.at),
    index("memory_events_time_idx").on(t.orgId, t.at),
    tenantPolicy("memory_events"),
  ],
);
