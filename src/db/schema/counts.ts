import { pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs } from "./orgs.ts";

/** How much an org remembers, as it was last counted on each day (UTC): counting a million rows takes too long to watch. */
export const memoryCounts = pgTable(
  "memory_counts",
  {
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    /** YYYY-MM-DD. */
    day: text().notNull(),
    countedAt: instant("counted_at").notNull(),
    counts: jsonText().notNull(),
  },
  (t) => [
    primaryKey({ name: "memory_counts_pk", columns: [t.orgId, t.day] }),
    tenantPolicy("memory_counts"),
  ],
);
