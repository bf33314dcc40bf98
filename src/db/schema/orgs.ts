import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  doublePrecision,
  integer,
  pgTable,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";

export const orgs = pgTable(
  "orgs",
  {
    id: id(),
    slug: text().notNull().unique(),
    name: text().notNull(),
    createdAt: instant("created_at").notNull(),
    /** Off: nothing is extracted, and recall's blocks are empty. */
    memoryEnabled: boolean("memory_enabled").notNull().default(true),
    /** Of the org's people, by a hash of their id, the share that does without memory: the other arm of a comparison. */
    memoryOffShare: doublePrecision("memory_off_share").notNull().default(0),
    /** Turns that are extracted a day (UTC); null = EXTRACTION_DAILY_LIMIT. */
    extractionDailyLimit: integer("extraction_daily_limit"),
  },
  (t) => [
    check("orgs_memory_off_share", sql`${t.memoryOffShare} between 0 and 1`),
    tenantPolicy("orgs", "id"),
  ],
);

export const stores = pgTable(
  "stores",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    slug: text().notNull(),
    name: text().notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    unique("stores_org_slug").on(t.orgId, t.slug),
    // Target of composite foreign keys, which make a reference into another org impossible.
    unique("stores_org_id").on(t.orgId, t.id),
    tenantPolicy("stores"),
  ],
);
