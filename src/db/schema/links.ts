import { sql } from "drizzle-orm";
import {
  check,
  foreignKey,
  index,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";
import { channelIdentities, users } from "./users.ts";

/** A code that proves, sent on another channel, that whoever sends it is this person. */
export const linkCodes = pgTable(
  "link_codes",
  {
    id: id(),
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    /** SHA-256 of org and code, hex. */
    hash: text().notNull().unique(),
    createdBy: text("created_by").notNull(),
    createdAt: instant("created_at").notNull(),
    expiresAt: instant("expires_at").notNull(),
    usedAt: instant("used_at"),
  },
  (t) => [
    index("link_codes_user_idx").on(t.userId),
    index("link_codes_expires_idx").on(t.expiresAt),
    foreignKey({
      name: "link_codes_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("link_codes"),
  ],
);

/** The journal of links: whose identities went to whom, by which proof, and whether it was undone. */
export const identityLinks = pgTable(
  "identity_links",
  {
    id: id(),
    orgId: uuid("org_id").notNull(),
    fromUserId: uuid("from_user_id").notNull(),
    toUserId: uuid("to_user_id").notNull(),
    proof: text({ enum: ["code", "assertion", "admin", "platform"] }).notNull(),
    actor: text().notNull(),
    reason: text(),
    at: instant("at").notNull(),
    undoneAt: instant("undone_at"),
    undoneBy: text("undone_by"),
  },
  (t) => [
    // Target of composite foreign keys.
    unique("identity_links_org_id").on(t.orgId, t.id),
    index("identity_links_from_idx").on(t.fromUserId),
    index("identity_links_to_idx").on(t.toUserId),
    check("identity_links_proof", sql`${t.proof} in ('code', 'assertion', 'admin', 'platform')`),
    foreignKey({
      name: "identity_links_from_fk",
      columns: [t.orgId, t.fromUserId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "identity_links_to_fk",
      columns: [t.orgId, t.toUserId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("identity_links"),
  ],
);

/** The identities that a link moved: an undo moves these back, and what came by them. */
export const identityLinkMoves = pgTable(
  "identity_link_moves",
  {
    orgId: uuid("org_id").notNull(),
    linkId: uuid("link_id").notNull(),
    identityId: uuid("identity_id").notNull(),
  },
  (t) => [
    primaryKey({ name: "identity_link_moves_pk", columns: [t.linkId, t.identityId] }),
    index("identity_link_moves_identity_idx").on(t.identityId),
    foreignKey({
      name: "identity_link_moves_link_fk",
      columns: [t.orgId, t.linkId],
      foreignColumns: [identityLinks.orgId, identityLinks.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "identity_link_moves_identity_fk",
      columns: [t.orgId, t.identityId],
      foreignColumns: [channelIdentities.orgId, channelIdentities.id],
    }).onDelete("cascade"),
    tenantPolicy("identity_link_moves"),
  ],
);
