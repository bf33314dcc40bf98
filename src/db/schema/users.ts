import { sql } from "drizzle-orm";
import { check, foreignKey, index, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";
import { orgs } from "./orgs.ts";

export const users = pgTable(
  "users",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    role: text({ enum: ["customer", "operator"] })
      .notNull()
      .default("customer"),
    status: text({ enum: ["pending", "approved", "blocked"] }).notNull(),
    username: text(),
    firstName: text("first_name"),
    createdAt: instant("created_at").notNull(),
    approvedAt: instant("approved_at"),
    /** Who this person turned out to be: the one that their identities were linked to. Their id means that one then. */
    linkedInto: uuid("linked_into"),
  },
  (t) => [
    unique("users_org_id").on(t.orgId, t.id),
    index("users_status_idx").on(t.orgId, t.status, t.id),
    index("users_linked_idx").on(t.linkedInto).where(sql`${t.linkedInto} is not null`),
    foreignKey({
      name: "users_linked_fk",
      columns: [t.orgId, t.linkedInto],
      foreignColumns: [t.orgId, t.id],
    }).onDelete("cascade"),
    check("users_role", sql`${t.role} in ('customer', 'operator')`),
    check("users_status", sql`${t.status} in ('pending', 'approved', 'blocked')`),
    tenantPolicy("users"),
  ],
);

export const channelIdentities = pgTable(
  "channel_identities",
  {
    id: id(),
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    channel: text().notNull(),
    externalId: text("external_id").notNull(),
    username: text(),
    firstName: text("first_name"),
    createdAt: instant("created_at").notNull(),
    /** Set while the person blocks the bot: nothing can be sent to them there. */
    unreachableAt: instant("unreachable_at"),
  },
  (t) => [
    unique("channel_identities_external").on(t.orgId, t.channel, t.externalId),
    unique("channel_identities_org_id").on(t.orgId, t.id),
    index("channel_identities_user_idx").on(t.userId),
    foreignKey({
      name: "channel_identities_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("channel_identities"),
  ],
);
