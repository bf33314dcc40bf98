import { foreignKey, index, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { instant, jsonText, tenantPolicy } from "./columns.ts";
import { channelIdentities, users } from "./users.ts";

export const memoryKv = pgTable(
  "memory_kv",
  {
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    /** The channel identity that the entry came from; null when the person was named by internal id alone. */
    identityId: uuid("identity_id"),
    key: text().notNull(),
    value: jsonText().notNull(),
    /** UTF-8 length of `value`, counted against the person's limit. */
    bytes: integer().notNull(),
    writtenBy: text("written_by").notNull(),
    agentId: text("agent_id").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [
    // One row per source identity, so that undoing a link splits the memory again; a read takes the latest.
    unique("memory_kv_entry").on(t.orgId, t.userId, t.identityId, t.key).nullsNotDistinct(),
    index("memory_kv_identity_idx").on(t.identityId),
    foreignKey({
      name: "memory_kv_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "memory_kv_identity_fk",
      columns: [t.orgId, t.identityId],
      foreignColumns: [channelIdentities.orgId, channelIdentities.id],
    }).onDelete("cascade"),
    tenantPolicy("memory_kv"),
  ],
);
