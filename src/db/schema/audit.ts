import { index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs } from "./orgs.ts";

/** Who did what to whom or to what, and why. What happened to facts is in `memory_events`. Holds ids, no contents. */
export const auditEvents = pgTable(
  "audit_events",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    at: instant("at").notNull(),
    /** A key's id, `operator`, or what proved itself otherwise, e.g. `code`. */
    actor: text().notNull(),
    /** As `<subject>.<what was done>`, e.g. `user.blocked`. */
    action: text().notNull(),
    subjectKind: text("subject_kind").notNull(),
    subjectId: text("subject_id").notNull(),
    reason: text(),
    details: jsonText(),
  },
  (t) => [
    index("audit_events_time_idx").on(t.orgId, t.at, t.id),
    index("audit_events_subject_idx").on(t.orgId, t.subjectKind, t.subjectId),
    tenantPolicy("audit_events"),
  ],
);
