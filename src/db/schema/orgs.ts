import { pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";

export const orgs = pgTable(
  "orgs",
  {
    id: id(),
    slug: text().notNull().unique(),
    name: text().notNull(),
    createdAt: instant("created_at").notNull(),
  },
  () => [tenantPolicy("orgs", "id")],
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
