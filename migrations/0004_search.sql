CREATE TABLE "embedding_models" (
	"id" smallint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "embedding_models_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 32767 START WITH 1 CACHE 1),
	"fingerprint" text NOT NULL,
	"vector_index" text NOT NULL,
	"dimensions" integer NOT NULL,
	"floor" double precision NOT NULL,
	"merge_threshold" double precision NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "embedding_models_fingerprint" UNIQUE("fingerprint","vector_index"),
	CONSTRAINT "embedding_models_state" CHECK ("embedding_models"."state" in ('building', 'active', 'retired'))
);
--> statement-breakpoint
CREATE TABLE "search_documents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"scope_id" bigint NOT NULL,
	"org_fact_id" uuid,
	"store_fact_id" uuid,
	"user_fact_id" uuid,
	"message_id" uuid,
	"context_id" uuid,
	"length" smallint NOT NULL,
	"context_length" smallint NOT NULL,
	"tokens" integer NOT NULL,
	"text_hash" text NOT NULL,
	"words_hash" text NOT NULL,
	"model_id" smallint,
	"remote_namespace" text,
	CONSTRAINT "search_documents_place" UNIQUE("org_id","scope_id","id"),
	CONSTRAINT "search_documents_org_id" UNIQUE("org_id","id"),
	CONSTRAINT "search_documents_source" CHECK (num_nonnulls("search_documents"."org_fact_id", "search_documents"."store_fact_id", "search_documents"."user_fact_id", "search_documents"."message_id") = 1
        and "search_documents"."id" = coalesce("search_documents"."org_fact_id", "search_documents"."store_fact_id", "search_documents"."user_fact_id", "search_documents"."message_id"))
);
--> statement-breakpoint
ALTER TABLE "search_documents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "search_postings" (
	"scope_id" bigint NOT NULL,
	"term" text collate "C" NOT NULL,
	"document_id" uuid NOT NULL,
	"org_id" uuid NOT NULL,
	"frequency" smallint NOT NULL,
	"context_frequency" smallint NOT NULL,
	"length" smallint NOT NULL,
	"context_length" smallint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "search_postings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "search_scopes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "search_scopes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"org_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"store_id" uuid,
	"user_id" uuid,
	"agent_id" text NOT NULL,
	"archived" boolean NOT NULL,
	"documents" integer DEFAULT 0 NOT NULL,
	"length" bigint DEFAULT 0 NOT NULL,
	"context_length" bigint DEFAULT 0 NOT NULL,
	"recount_due" boolean DEFAULT false NOT NULL,
	"embed_due" boolean DEFAULT false NOT NULL,
	"embed_messages" boolean DEFAULT false NOT NULL,
	CONSTRAINT "search_scopes_scope" UNIQUE NULLS NOT DISTINCT("org_id","kind","store_id","user_id","agent_id","archived"),
	CONSTRAINT "search_scopes_org_id" UNIQUE("org_id","id"),
	CONSTRAINT "search_scopes_kind" CHECK ("search_scopes"."kind" in ('org', 'store', 'user', 'message'))
);
--> statement-breakpoint
ALTER TABLE "search_scopes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "vector_deletions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "vector_deletions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"org_id" uuid NOT NULL,
	"namespace" text NOT NULL,
	"document_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "vector_deletions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "fact_decisions" DROP CONSTRAINT "fact_decisions_kind";--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "search_due" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "org_facts" ADD CONSTRAINT "org_facts_org_id" UNIQUE("org_id","id");--> statement-breakpoint
ALTER TABLE "store_facts" ADD CONSTRAINT "store_facts_org_id" UNIQUE("org_id","id");--> statement-breakpoint
ALTER TABLE "user_facts" ADD CONSTRAINT "user_facts_org_id" UNIQUE("org_id","id");--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_model_id_embedding_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "embedding_models"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_scope_fk" FOREIGN KEY ("org_id","scope_id") REFERENCES "search_scopes"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_org_fact_fk" FOREIGN KEY ("org_id","org_fact_id") REFERENCES "org_facts"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_store_fact_fk" FOREIGN KEY ("org_id","store_fact_id") REFERENCES "store_facts"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_user_fact_fk" FOREIGN KEY ("org_id","user_fact_id") REFERENCES "user_facts"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_message_fk" FOREIGN KEY ("org_id","message_id") REFERENCES "chat_messages"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_documents" ADD CONSTRAINT "search_documents_context_fk" FOREIGN KEY ("org_id","context_id") REFERENCES "chat_messages"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_postings" ADD CONSTRAINT "search_postings_document_fk" FOREIGN KEY ("org_id","document_id") REFERENCES "search_documents"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_scopes" ADD CONSTRAINT "search_scopes_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_scopes" ADD CONSTRAINT "search_scopes_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_scopes" ADD CONSTRAINT "search_scopes_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "search_documents_scope_idx" ON "search_documents" USING btree ("scope_id","model_id","id");--> statement-breakpoint
CREATE INDEX "search_documents_org_fact_idx" ON "search_documents" USING btree ("org_fact_id") WHERE "search_documents"."org_fact_id" is not null;--> statement-breakpoint
CREATE INDEX "search_documents_store_fact_idx" ON "search_documents" USING btree ("store_fact_id") WHERE "search_documents"."store_fact_id" is not null;--> statement-breakpoint
CREATE INDEX "search_documents_user_fact_idx" ON "search_documents" USING btree ("user_fact_id") WHERE "search_documents"."user_fact_id" is not null;--> statement-breakpoint
CREATE INDEX "search_documents_message_idx" ON "search_documents" USING btree ("message_id") WHERE "search_documents"."message_id" is not null;--> statement-breakpoint
CREATE INDEX "search_documents_context_idx" ON "search_documents" USING btree ("context_id") WHERE "search_documents"."context_id" is not null;--> statement-breakpoint
CREATE INDEX "search_postings_document_idx" ON "search_postings" USING btree ("document_id");--> statement-breakpoint
CREATE INDEX "search_scopes_store_idx" ON "search_scopes" USING btree ("store_id") WHERE "search_scopes"."store_id" is not null;--> statement-breakpoint
CREATE INDEX "search_scopes_user_idx" ON "search_scopes" USING btree ("user_id") WHERE "search_scopes"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "search_scopes_due_idx" ON "search_scopes" USING btree ("id") WHERE "search_scopes"."embed_due";--> statement-breakpoint
CREATE INDEX "chat_messages_search_due_idx" ON "chat_messages" USING btree ("id") WHERE "chat_messages"."search_due";--> statement-breakpoint
CREATE INDEX "org_facts_recent_idx" ON "org_facts" USING btree ("org_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "org_facts_core_idx" ON "org_facts" USING btree ("org_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and (pinned or coalesce(claim_tier, tier) = 'core');--> statement-breakpoint
CREATE INDEX "store_facts_recent_idx" ON "store_facts" USING btree ("store_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "store_facts_core_idx" ON "store_facts" USING btree ("store_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and (pinned or coalesce(claim_tier, tier) = 'core');--> statement-breakpoint
CREATE INDEX "user_facts_recent_idx" ON "user_facts" USING btree ("user_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "user_facts_core_idx" ON "user_facts" USING btree ("user_id","agent_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and (pinned or coalesce(claim_tier, tier) = 'core');--> statement-breakpoint
ALTER TABLE "fact_decisions" ADD CONSTRAINT "fact_decisions_kind" CHECK ("fact_decisions"."kind" in ('settle', 'keep_all', 'edit', 'pin', 'unpin', 'archive', 'restore', 'alike'));--> statement-breakpoint
CREATE POLICY "search_documents_tenant" ON "search_documents" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "search_postings_tenant" ON "search_postings" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "search_scopes_tenant" ON "search_scopes" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "vector_deletions_tenant" ON "vector_deletions" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON search_scopes, search_documents, search_postings, vector_deletions TO souvenir_app;--> statement-breakpoint
GRANT SELECT ON embedding_models TO souvenir_app;--> statement-breakpoint
-- Every column, so that a search reads this index alone; the first three are the key.
CREATE UNIQUE INDEX search_postings_key ON search_postings (scope_id, term, document_id)
  INCLUDE (org_id, frequency, context_frequency, length, context_length);--> statement-breakpoint
-- Documents go with what they stand for, whoever deletes it. What else has to know of it hears it here.
CREATE FUNCTION search_document_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Once per scope, however many go: a counter would be written anew for each of them.
  UPDATE search_scopes SET recount_due = true WHERE id = OLD.scope_id AND NOT recount_due;
  IF OLD.remote_namespace IS NOT NULL THEN
    INSERT INTO vector_deletions (org_id, namespace, document_id) VALUES (OLD.org_id, OLD.remote_namespace, OLD.id);
  END IF;
  -- A message whose predecessor is gone has to be indexed without it. One that is gone itself is not found.
  IF OLD.message_id IS NOT NULL THEN
    UPDATE chat_messages SET search_due = true WHERE id = OLD.message_id AND NOT search_due;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER search_documents_gone AFTER DELETE ON search_documents
  FOR EACH ROW EXECUTE FUNCTION search_document_gone();--> statement-breakpoint
-- Facts of before have no documents: consolidation makes them, once and soon.
UPDATE org_facts SET consolidated_at = NULL WHERE consolidated_at IS NOT NULL;--> statement-breakpoint
UPDATE store_facts SET consolidated_at = NULL WHERE consolidated_at IS NOT NULL;--> statement-breakpoint
UPDATE user_facts SET consolidated_at = NULL WHERE consolidated_at IS NOT NULL;--> statement-breakpoint
INSERT INTO jobs (id, kind, dedupe_key, payload, run_at, created_at)
  SELECT gen_random_uuid(), 'facts.consolidate', 'migration 0004', '{}', now(), now()
  WHERE EXISTS (SELECT FROM org_facts) OR EXISTS (SELECT FROM store_facts) OR EXISTS (SELECT FROM user_facts);
