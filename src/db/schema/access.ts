import { sql } from "drizzle-orm";
import { check, foreignKey, index, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs, stores } from "./orgs.ts";
import { users } from "./users.ts";

export const apiKeys = pgTable(
  "api_keys",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    name: text().notNull(),
    role: text({ enum: ["member", "admin", "owner"] }).notNull(),
    /** SHA-256 of the key, hex. The key has 256 random bits, so a slow hash would add nothing. */
    hash: text().notNull().unique(),
    defaultAgent: text("default_agent").notNull(),
    pinnedUserId: uuid("pinned_user_id"),
    pinnedStoreId: uuid("pinned_store_id"),
    pinnedAgent: text("pinned_agent"),
    createdAt: instant("created_at").notNull(),
    lastUsedAt: instant("last_used_at"),
    revokedAt: instant("revoked_at"),
  },
  (t) => [
    index("api_keys_org_idx").on(t.orgId),
    // Target of composite foreign keys, which make a reference into another org impossible.
    unique("api_keys_org_id").on(t.orgId, t.id),
    check("api_keys_role", sql`${t.role} in ('member', 'admin', 'owner')`),
    foreignKey({
      name: "api_keys_user_fk",
      columns: [t.orgId, t.pinnedUserId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "api_keys_store_fk",
      columns: [t.orgId, t.pinnedStoreId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("api_keys"),
  ],
);

/** The answer given to a call that carried an idempotency key, kept so that a retry gets the same one. */
export const idempotentCalls = pgTable(
  "idempotent_calls",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    /** SHA-256 over key id, tool and the caller's idempotency key: unique for one caller and tool. */
    callHash: text("call_hash").notNull().unique(),
    bodyHash: text("body_hash").notNull(),
    /** Null until the call's transaction commits. */
    answer: jsonText(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [index("idempotent_calls_created_idx").on(t.createdAt), tenantPolicy("idempotent_calls")],
);

/** Somebody who signed in to the memory page with an API key. */
export const sessions = pgTable(
  "sessions",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    keyId: uuid("key_id").notNull(),
    /** SHA-256 of the cookie's token, hex; the token has 256 random bits. */
    hash: text().notNull().unique(),
    createdAt: instant("created_at").notNull(),
    expiresAt: instant("expires_at").notNull(),
    /** Null until it is used again; a session that nobody uses ends before it expires. */
    lastUsedAt: instant("last_used_at"),
  },
  (t) => [
    index("sessions_key_idx").on(t.keyId),
    foreignKey({
      name: "sessions_key_fk",
      columns: [t.orgId, t.keyId],
      foreignColumns: [apiKeys.orgId, apiKeys.id],
    }).onDelete("cascade"),
    index("sessions_expires_idx").on(t.expiresAt),
    tenantPolicy("sessions"),
  ],
);
