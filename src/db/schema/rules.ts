import { foreignKey, index, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";
import { orgs, stores } from "./orgs.ts";

/** What an org, or one of its stores, tells its agents: every version that was ever saved. The highest counts. */
export const ruleVersions = pgTable(
  "rule_versions",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    /** Null: the org's own; else a store's, which agents read after those. */
    storeId: uuid("store_id"),
    /** From 1, without gaps. */
    version: integer().notNull(),
    /** Markdown; empty: none from here on. */
    text: text().notNull(),
    /** Counted on the high side when it was saved. */
    tokens: integer().notNull(),
    reason: text(),
    createdBy: text("created_by").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    unique("rule_versions_version").on(t.orgId, t.storeId, t.version).nullsNotDistinct(),
    index("rule_versions_store_idx").on(t.storeId),
    foreignKey({
      name: "rule_versions_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("rule_versions"),
  ],
);
