import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, tenantPolicy } from "./columns.ts";
import { users } from "./users.ts";

/**
 * One row for each person of whom something waits to be forwarded, so that the next one to serve is found however much
 * waits. Who archives holds the row until the commit: positions are in the order of commits.
 */
export const forwardQueues = pgTable(
  "forward_queues",
  {
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    lastPosition: bigint("last_position", { mode: "number" }).notNull(),
    /** When its head may be tried. */
    nextAt: instant("next_at").notNull(),
    /** Somebody is trying it until then. */
    leaseUntil: instant("lease_until"),
  },
  (t) => [
    primaryKey({ name: "forward_queues_pk", columns: [t.orgId, t.userId] }),
    index("forward_queues_next_idx").on(t.nextAt),
    foreignKey({
      name: "forward_queues_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("forward_queues"),
  ],
);

/** The outbox: written with the message, gone once the agent runtime took it. Holds ids; the text is read when it is sent. */
export const forwardDeliveries = pgTable(
  "forward_deliveries",
  {
    /** The `webhook-id` of every attempt. */
    id: id(),
    orgId: uuid("org_id").notNull(),
    userId: uuid("user_id").notNull(),
    position: bigint({ mode: "number" }).notNull(),
    event: text({
      enum: ["message.received", "message.edited", "message.deleted", "identity.linked"],
    }).notNull(),
    /** No foreign key: a deletion is forwarded when the message is gone. */
    messageId: uuid("message_id").notNull(),
    channel: text().notNull(),
    account: text().notNull(),
    /** dead: given up; waits for a person. */
    state: text({ enum: ["pending", "dead"] })
      .notNull()
      .default("pending"),
    attempts: integer().notNull().default(0),
    /** What the last attempt met, without contents. */
    lastError: text("last_error"),
    createdAt: instant("created_at").notNull(),
    /** Since when the tries count: later than `created_at` after a replay. */
    triedSince: instant("tried_since"),
    diedAt: instant("died_at"),
  },
  (t) => [
    index("forward_deliveries_head_idx")
      .on(t.userId, t.position)
      .where(sql`${t.state} = 'pending'`),
    index("forward_deliveries_pending_idx").on(t.orgId, t.id).where(sql`${t.state} = 'pending'`),
    index("forward_deliveries_dead_idx").on(t.orgId, t.id).where(sql`${t.state} = 'dead'`),
    index("forward_deliveries_user_idx").on(t.userId),
    check("forward_deliveries_state", sql`${t.state} in ('pending', 'dead')`),
    check(
      "forward_deliveries_event",
      sql`${t.event} in ('message.received', 'message.edited', 'message.deleted', 'identity.linked')`,
    ),
    foreignKey({
      name: "forward_deliveries_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("forward_deliveries"),
  ],
);
