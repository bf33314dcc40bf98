import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs, stores } from "./orgs.ts";
import { users } from "./users.ts";

/** A person's messages with the assistant's answer, and what was learned from them. */
export const turns = pgTable(
  "turns",
  {
    id: id(),
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    storeId: uuid("store_id"),
    agentId: text("agent_id").notNull(),
    channel: text().notNull(),
    account: text().notNull(),
    conversationId: text("conversation_id").notNull(),
    /** open: more may come; closed: waits for extraction; extracted, skipped or dead: it ended so. */
    state: text({ enum: ["open", "closed", "extracted", "skipped", "dead"] }).notNull(),
    /** Why it was skipped or is dead. */
    reason: text(),
    openedAt: instant("opened_at").notNull(),
    lastMessageAt: instant("last_message_at").notNull(),
    closedAt: instant("closed_at"),
    extractedAt: instant("extracted_at"),
    /** The person corrects the assistant's answer before. */
    isCorrection: boolean("is_correction").notNull().default(false),
    /** With or without memory, as the org's comparison had it at the time. */
    arm: text({ enum: ["on", "off"] }).notNull(),
    thumb: text({ enum: ["up", "down"] }),
    regenerated: boolean().notNull().default(false),
    model: text(),
    inputTokens: integer("input_tokens"),
    outputTokens: integer("output_tokens"),
    factCount: integer("fact_count"),
    /** Drafts that were dropped, counted by reason. */
    dropped: jsonText(),
  },
  (t) => [
    uniqueIndex("turns_open_idx")
      .on(t.orgId, t.userId, t.channel, t.account, t.conversationId)
      .where(sql`${t.state} = 'open'`),
    index("turns_user_idx").on(t.userId, t.openedAt),
    index("turns_store_idx").on(t.storeId).where(sql`${t.storeId} is not null`),
    index("turns_time_idx").on(t.orgId, t.openedAt, t.id),
    index("turns_state_idx").on(t.orgId, t.state, t.openedAt),
    check("turns_state", sql`${t.state} in ('open', 'closed', 'extracted', 'skipped', 'dead')`),
    check("turns_arm", sql`${t.arm} in ('on', 'off')`),
    check("turns_thumb", sql`${t.thumb} in ('up', 'down')`),
    foreignKey({
      name: "turns_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "turns_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("turns"),
  ],
);

/** What an org's extractions took on one day (UTC). */
export const extractionUsage = pgTable(
  "extraction_usage",
  {
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    /** YYYY-MM-DD. */
    day: text().notNull(),
    turns: integer().notNull().default(0),
    inputTokens: bigint("input_tokens", { mode: "number" }).notNull().default(0),
    outputTokens: bigint("output_tokens", { mode: "number" }).notNull().default(0),
  },
  (t) => [
    primaryKey({ name: "extraction_usage_pk", columns: [t.orgId, t.day] }),
    tenantPolicy("extraction_usage"),
  ],
);
