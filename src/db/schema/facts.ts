import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  customType,
  doublePrecision,
  foreignKey,
  index,
  pgTable,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs, stores } from "./orgs.ts";
import { channelIdentities, users } from "./users.ts";

/** Byte order, so that the range of a message's revisions (`<id>#…`) is an index range under any locale. */
const byteText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text collate "C"',
});

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
  /** Where the claim comes from: a message's id, or one the server made for a call that named none. */
  sourceMessageId: byteText("source_message_id").notNull(),
  writtenBy: text("written_by").notNull(),
  pinned: boolean().notNull().default(false),
  observedAt: instant("observed_at").notNull(),
  createdAt: instant("created_at").notNull(),
  expiresAt: instant("expires_at"),
  archivedAt: instant("archived_at"),
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
    writtenBy: table.writtenBy,
    pinned: table.pinned,
    observedAt: table.observedAt,
    createdAt: table.createdAt,
    archivedAt: table.archivedAt,
  };
}

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
