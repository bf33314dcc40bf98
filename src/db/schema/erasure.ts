import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";

/** What can be erased; a reset takes what was learned and leaves the people and what they said. */
const ERASURE_KINDS = ["user", "store", "org", "fact", "message", "conversation", "reset"] as const;

/**
 * What was erased, in a chain: each entry's hash is over its report and the hash before, so that none can be taken out or
 * changed unseen. Ids and counts only. No foreign key: an entry outlives its org.
 */
export const erasures = pgTable(
  "erasures",
  {
    id: id(),
    orgId: uuid("org_id").notNull(),
    /** Its place in the org's chain, from 1. */
    position: integer().notNull(),
    kind: text({ enum: ERASURE_KINDS }).notNull(),
    /** The erased thing's internal id; of a conversation a hash. */
    subjectId: text("subject_id").notNull(),
    state: text({ enum: ["erasing", "erased", "verified", "scrubbed", "failed"] }).notNull(),
    requestedBy: text("requested_by").notNull(),
    requestedAt: instant("requested_at").notNull(),
    erasedAt: instant("erased_at"),
    verifiedAt: instant("verified_at"),
    scrubbedAt: instant("scrubbed_at"),
    /** Where what was, how much of it was deleted, what the scans found: ids and counts. */
    report: jsonText(),
    previousHash: text("previous_hash"),
    hash: text(),
  },
  (t) => [
    unique("erasures_position").on(t.orgId, t.position),
    index("erasures_open_idx")
      .on(t.requestedAt)
      .where(sql`${t.state} not in ('scrubbed', 'failed')`),
    check(
      "erasures_kind",
      sql`${t.kind} in ('user', 'store', 'org', 'fact', 'message', 'conversation', 'reset')`,
    ),
    check(
      "erasures_state",
      sql`${t.state} in ('erasing', 'erased', 'verified', 'scrubbed', 'failed')`,
    ),
    tenantPolicy("erasures"),
  ],
);
