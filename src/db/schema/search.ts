import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { chatMessages } from "./chat.ts";
import { byteText, instant, tenantPolicy } from "./columns.ts";
import { orgFacts, storeFacts, userFacts } from "./facts.ts";
import { orgs, stores } from "./orgs.ts";
import { users } from "./users.ts";

/**
 * What is searched as one: an agent's pocket of an org, a store or a person (its archived facts apart), or a person's
 * messages of one store. Statistics of words are kept per scope.
 */
export const searchScopes = pgTable(
  "search_scopes",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    kind: text({ enum: ["org", "store", "user", "message"] }).notNull(),
    storeId: uuid("store_id"),
    userId: uuid("user_id"),
    /** Of facts: whose pocket. Empty for messages. */
    agentId: text("agent_id").notNull(),
    archived: boolean().notNull(),
    /** How many documents it has and how long they are together: what BM25 needs to know of the whole. */
    documents: integer().notNull().default(0),
    length: bigint({ mode: "number" }).notNull().default(0),
    contextLength: bigint("context_length", { mode: "number" }).notNull().default(0),
    /** A document was deleted since: what the three columns before say has to be counted again. */
    recountDue: boolean("recount_due").notNull().default(false),
    /** Some documents wait for a vector. Set when one comes in; of messages only after a search missed them. */
    embedDue: boolean("embed_due").notNull().default(false),
    /** Of messages: a search missed what has no vector, so that from now on all of them get one. */
    embedMessages: boolean("embed_messages").notNull().default(false),
  },
  (t) => [
    unique("search_scopes_scope")
      .on(t.orgId, t.kind, t.storeId, t.userId, t.agentId, t.archived)
      .nullsNotDistinct(),
    index("search_scopes_store_idx").on(t.storeId).where(sql`${t.storeId} is not null`),
    index("search_scopes_user_idx").on(t.userId).where(sql`${t.userId} is not null`),
    index("search_scopes_due_idx").on(t.id).where(sql`${t.embedDue}`),
    unique("search_scopes_org_id").on(t.orgId, t.id),
    check("search_scopes_kind", sql`${t.kind} in ('org', 'store', 'user', 'message')`),
    foreignKey({
      name: "search_scopes_store_fk",
      columns: [t.orgId, t.storeId],
      foreignColumns: [stores.orgId, stores.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_scopes_user_fk",
      columns: [t.orgId, t.userId],
      foreignColumns: [users.orgId, users.id],
    }).onDelete("cascade"),
    tenantPolicy("search_scopes"),
  ],
);

/**
 * A searchable text: a claim by the row that speaks for it, or a message. It goes with what it stands for, whoever deletes
 * that, and its words and vectors go with it.
 */
export const searchDocuments = pgTable(
  "search_documents",
  {
    /** The fact's or message's id. */
    id: uuid().primaryKey(),
    orgId: uuid("org_id")
      .notNull()
      .references(() => orgs.id, { onDelete: "cascade" }),
    scopeId: bigint("scope_id", { mode: "number" }).notNull(),
    orgFactId: uuid("org_fact_id"),
    storeFactId: uuid("store_fact_id"),
    userFactId: uuid("user_fact_id"),
    messageId: uuid("message_id"),
    /** The message before, of which the end is searched with this one: gone or edited, this has to be indexed again. */
    contextId: uuid("context_id"),
    /** Words that count, without and with the message before. */
    length: smallint().notNull(),
    contextLength: smallint("context_length").notNull(),
    /** Of its line in a memory block, counted on the high side. */
    tokens: integer().notNull(),
    /** SHA-256 of what is embedded: another text needs another vector. */
    textHash: text("text_hash").notNull(),
    /** Hash of its words: they may change (a tag, the date of a statement) while what is embedded does not. */
    wordsHash: text("words_hash").notNull(),
    /** The model that its vector is of; null = it has none. */
    modelId: smallint("model_id").references(() => embeddingModels.id, { onDelete: "set null" }),
    /** Where in an index elsewhere its vector lies, for the trigger that has it deleted there. */
    remoteNamespace: text("remote_namespace"),
  },
  (t) => [
    // What its vectors refer to: they are of its org, and move with it from one scope to another.
    unique("search_documents_place").on(t.orgId, t.scopeId, t.id),
    unique("search_documents_org_id").on(t.orgId, t.id),
    index("search_documents_scope_idx").on(t.scopeId, t.modelId, t.id),
    index("search_documents_org_fact_idx").on(t.orgFactId).where(sql`${t.orgFactId} is not null`),
    index("search_documents_store_fact_idx")
      .on(t.storeFactId)
      .where(sql`${t.storeFactId} is not null`),
    index("search_documents_user_fact_idx")
      .on(t.userFactId)
      .where(sql`${t.userFactId} is not null`),
    index("search_documents_message_idx").on(t.messageId).where(sql`${t.messageId} is not null`),
    index("search_documents_context_idx").on(t.contextId).where(sql`${t.contextId} is not null`),
    check(
      "search_documents_source",
      sql`num_nonnulls(${t.orgFactId}, ${t.storeFactId}, ${t.userFactId}, ${t.messageId}) = 1
        and ${t.id} = coalesce(${t.orgFactId}, ${t.storeFactId}, ${t.userFactId}, ${t.messageId})`,
    ),
    foreignKey({
      name: "search_documents_scope_fk",
      columns: [t.orgId, t.scopeId],
      foreignColumns: [searchScopes.orgId, searchScopes.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_documents_org_fact_fk",
      columns: [t.orgId, t.orgFactId],
      foreignColumns: [orgFacts.orgId, orgFacts.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_documents_store_fact_fk",
      columns: [t.orgId, t.storeFactId],
      foreignColumns: [storeFacts.orgId, storeFacts.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_documents_user_fact_fk",
      columns: [t.orgId, t.userFactId],
      foreignColumns: [userFacts.orgId, userFacts.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_documents_message_fk",
      columns: [t.orgId, t.messageId],
      foreignColumns: [chatMessages.orgId, chatMessages.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "search_documents_context_fk",
      columns: [t.orgId, t.contextId],
      foreignColumns: [chatMessages.orgId, chatMessages.id],
    }).onDelete("cascade"),
    tenantPolicy("search_documents"),
  ],
);

/**
 * Which stem stands how often in which document. The unique index (scope, term, document) holds every column, so that a
 * search reads nothing else; Drizzle cannot say INCLUDE, so migration 0004 makes it. How many documents have a term is
 * counted there too: a table of counts would make writers wait for each other, and keep words of what was erased.
 */
export const searchPostings = pgTable(
  "search_postings",
  {
    scopeId: bigint("scope_id", { mode: "number" }).notNull(),
    /** Bytes in order, whatever the locale: only equality is asked for, and comparing by a locale costs more. */
    term: byteText().notNull(),
    documentId: uuid("document_id").notNull(),
    orgId: uuid("org_id").notNull(),
    /** In the text itself, and with the end of the message before. */
    frequency: smallint().notNull(),
    contextFrequency: smallint("context_frequency").notNull(),
    /** Of the document, so that a search need not look it up. */
    length: smallint().notNull(),
    contextLength: smallint("context_length").notNull(),
  },
  (t) => [
    index("search_postings_document_idx").on(t.documentId),
    foreignKey({
      name: "search_postings_document_fk",
      columns: [t.orgId, t.documentId],
      foreignColumns: [searchDocuments.orgId, searchDocuments.id],
    }).onDelete("cascade"),
    tenantPolicy("search_postings"),
  ],
);

/**
 * Claims of one scope under different keys that may say the same, found when one gets its vector. A person decides; no
 * machine merges them.
 */
export const possibleDuplicates = pgTable(
  "possible_duplicates",
  {
    orgId: uuid("org_id").notNull(),
    /** The smaller id first. */
    firstId: uuid("first_id").notNull(),
    secondId: uuid("second_id").notNull(),
    /** Cosine of their vectors, or 1 where their values are equal. */
    likeness: doublePrecision().notNull(),
    foundAt: instant("found_at").notNull(),
    /** Somebody said that they are two things. */
    dismissedAt: instant("dismissed_at"),
    dismissedBy: text("dismissed_by"),
  },
  (t) => [
    primaryKey({ name: "possible_duplicates_pk", columns: [t.firstId, t.secondId] }),
    index("possible_duplicates_second_idx").on(t.secondId),
    index("possible_duplicates_open_idx")
      .on(t.orgId, t.likeness.desc().nullsFirst(), t.firstId, t.secondId)
      .where(sql`${t.dismissedAt} is null`),
    foreignKey({
      name: "possible_duplicates_first_fk",
      columns: [t.orgId, t.firstId],
      foreignColumns: [searchDocuments.orgId, searchDocuments.id],
    }).onDelete("cascade"),
    foreignKey({
      name: "possible_duplicates_second_fk",
      columns: [t.orgId, t.secondId],
      foreignColumns: [searchDocuments.orgId, searchDocuments.id],
    }).onDelete("cascade"),
    tenantPolicy("possible_duplicates"),
  ],
);

/** Whose vectors there are. Vectors of different rows are never compared, however alike their dimensions. */
export const embeddingModels = pgTable(
  "embedding_models",
  {
    id: smallint().primaryKey().generatedAlwaysAsIdentity(),
    /** Provider, model, dimensions and the way texts are prepared. */
    fingerprint: text().notNull(),
    /** Where its vectors lie: the same model in another index has to embed again. */
    vectorIndex: text("vector_index", { enum: ["postgres", "upstash"] }).notNull(),
    dimensions: integer().notNull(),
    /** Cosines below it say nothing. */
    floor: doublePrecision().notNull(),
    /** Values of one key whose cosine reaches it may mean the same. */
    mergeThreshold: doublePrecision("merge_threshold").notNull(),
    /** `building`: not everything has its vector yet; `retired`: another model took its place. */
    state: text({ enum: ["building", "active", "retired"] }).notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    unique("embedding_models_fingerprint").on(t.fingerprint, t.vectorIndex),
    check("embedding_models_state", sql`${t.state} in ('building', 'active', 'retired')`),
  ],
);

/** Vectors that an index elsewhere has to delete. No foreign key: it outlives what it speaks of. */
export const vectorDeletions = pgTable(
  "vector_deletions",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    orgId: uuid("org_id").notNull(),
    namespace: text().notNull(),
    documentId: uuid("document_id").notNull(),
  },
  () => [tenantPolicy("vector_deletions")],
);
