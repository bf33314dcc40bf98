import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { id, instant, jsonText, tenantPolicy } from "./columns.ts";
import { orgs, stores } from "./orgs.ts";
import { channelIdentities, users } from "./users.ts";

/** One bot or phone number. Secrets stay in the environment: the row names the variable that holds them. */
export const channelAccounts = pgTable(
  "channel_accounts",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    storeId: uuid("store_id"),
    channel: text().notNull(),
    account: text().notNull(),
    /** What its webhook must show: Telegram's secret token, WhatsApp's app secret, the signing secret of others. */
    secretVariable: text("secret_variable").notNull(),
    /** What sends on it, e.g. the bot's token. */
    tokenVariable: text("token_variable"),
    /** What WhatsApp shows once, when the webhook is set up. */
    verifyVariable: text("verify_variable"),
    /** Where its messages are forwarded to, and with whose signature. */
    forwardUrl: text("forward_url"),
    forwardSecretVariable: text("forward_secret_variable"),
    /** People who write for the first time need no approval. */
    autoApprove: boolean("auto_approve").notNull().default(false),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    unique("channel_accounts_account").on(t.channel, t.account),
    index("channel_accounts_org_idx").on(t.orgId),
    foreignKey({
      name: "channel_accounts_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("channel_accounts"),
  ],
);

/** Every webhook delivery once, for as long as a platform may deliver it again. What it held is in chat_messages. */
export const channelUpdates = pgTable(
  "channel_updates",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    channel: text().notNull(),
    account: text().notNull(),
    /** The platform's update id with a hash of the content: ids are used again. The hash alone where a body had none. */
    updateId: text("update_id").notNull(),
    receivedAt: instant("received_at").notNull(),
  },
  (t) => [
    unique("channel_updates_update").on(t.orgId, t.channel, t.account, t.updateId),
    index("channel_updates_time_idx").on(t.receivedAt),
    tenantPolicy("channel_updates"),
  ],
);

export const chatMessages = pgTable(
  "chat_messages",
  {
    id: id(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    /** Null for messages of no person: channel posts and pseudo-senders. */
    userId: uuid("user_id"),
    identityId: uuid("identity_id"),
    storeId: uuid("store_id"),
    conversationId: text("conversation_id").notNull(),
    channel: text().notNull(),
    /** The channel account it came through; empty where the channel has none (`archive_turn`). */
    account: text().notNull(),
    direction: text({ enum: ["inbound", "outbound"] }).notNull(),
    kind: text().notNull(),
    text: text(),
    payload: jsonText().notNull(),
    platformMessageId: text("platform_message_id"),
    /** The turn it belongs to; no foreign key, because turns go with their person and so does the message. */
    turnId: uuid("turn_id"),
    /** Somebody else's words passed on: never a claim of the sender. */
    forwarded: boolean().notNull().default(false),
    optedOut: boolean("opted_out").notNull().default(false),
    /** Of what was sent from here, how far it came; null where nobody told. */
    deliveryStatus: text("delivery_status", {
      enum: ["sending", "sent", "delivered", "read", "failed"],
    }),
    /** It has to be indexed for search, or what was searched with it changed. True for messages from before the index. */
    searchDue: boolean("search_due").notNull().default(true),
    sentAt: instant("sent_at").notNull(),
    archivedAt: instant("archived_at").notNull(),
    editedAt: instant("edited_at"),
  },
  (t) => [
    // nullsFirst matches what ORDER BY ... DESC means; with Drizzle's default the planner ignores the index.
    index("chat_messages_user_time_idx").on(
      t.userId,
      t.sentAt.desc().nullsFirst(),
      t.id.desc().nullsFirst(),
    ),
    // For retention. BRIN on purpose: beside a btree the planner would read a person's history from it, by filter.
    index("chat_messages_time_idx").using("brin", t.sentAt),
    // Without these, erasing a person or store would scan the archive once per foreign key.
    index("chat_messages_identity_idx").on(t.identityId),
    index("chat_messages_store_idx").on(t.storeId).where(sql`${t.storeId} is not null`),
    index("chat_messages_turn_idx").on(t.turnId).where(sql`${t.turnId} is not null`),
    // What was said around a message, by everybody in the conversation; and a conversation that is erased.
    index("chat_messages_conversation_idx").on(
      t.orgId,
      t.channel,
      t.account,
      t.conversationId,
      t.sentAt,
      t.id,
    ),
    // Channel posts and what could not be read, which no person's page shows.
    index("chat_messages_nobody_idx")
      .on(t.orgId, t.sentAt.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`${t.userId} is null`),
    index("chat_messages_search_due_idx").on(t.id).where(sql`${t.searchDue}`),
    unique("chat_messages_platform").on(t.orgId, t.channel, t.account, t.platformMessageId),
    unique("chat_messages_org_id").on(t.orgId, t.id),
    // A platform's "delivered" names the message; what was being sent when a process died is found here.
    index("chat_messages_sending_idx").on(t.archivedAt).where(sql`${t.deliveryStatus} = 'sending'`),
    check("chat_messages_direction", sql`${t.direction} in ('inbound', 'outbound')`),
    check(
      "chat_messages_delivery_status",
      sql`${t.deliveryStatus} in ('sending', 'sent', 'delivered', 'read', 'failed')`,
    ),
    foreignKey({
      name: "chat_messages_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "chat_messages_identity_fk",
      columns: [t.orgId, t.identityId],
      foreignColumns: [channelIdentities.orgId, channelIdentities.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "chat_messages_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    tenantPolicy("chat_messages"),
  ],
);

/** The text a message had before an edit; revision 0 is the original. */
export const chatMessageRevisions = pgTable(
  "chat_message_revisions",
  {
    orgId: uuid("org_id").notNull(),
    messageId: uuid("message_id").notNull(),
    revision: integer().notNull(),
    text: text(),
    payload: jsonText().notNull(),
    replacedAt: instant("replaced_at").notNull(),
  },
  (t) => [
    primaryKey({ name: "chat_message_revisions_pk", columns: [t.messageId, t.revision] }),
    foreignKey({
      name: "chat_message_revisions_message_fk",
      columns: [t.orgId, t.messageId],
      foreignColumns: [chatMessages.orgId, chatMessages.id],
    }).onDelete("cascade"),
    tenantPolicy("chat_message_revisions"),
  ],
);
