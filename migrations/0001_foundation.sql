CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL,
	"default_agent" text NOT NULL,
	"pinned_user_id" uuid,
	"pinned_store_id" uuid,
	"pinned_agent" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash"),
	CONSTRAINT "api_keys_role" CHECK ("api_keys"."role" in ('member', 'admin', 'owner'))
);
--> statement-breakpoint
ALTER TABLE "api_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "idempotent_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"call_hash" text NOT NULL,
	"body_hash" text NOT NULL,
	"answer" json,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotent_calls_call_hash_unique" UNIQUE("call_hash")
);
--> statement-breakpoint
ALTER TABLE "idempotent_calls" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "channel_accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"store_id" uuid,
	"channel" text NOT NULL,
	"account" text NOT NULL,
	"secret_variable" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "channel_accounts_account" UNIQUE("channel","account")
);
--> statement-breakpoint
ALTER TABLE "channel_accounts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "channel_updates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"account" text NOT NULL,
	"update_id" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "channel_updates_update" UNIQUE("org_id","channel","account","update_id")
);
--> statement-breakpoint
ALTER TABLE "channel_updates" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "chat_message_revisions" (
	"org_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"text" text,
	"payload" json NOT NULL,
	"replaced_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "chat_message_revisions_pk" PRIMARY KEY("message_id","revision")
);
--> statement-breakpoint
ALTER TABLE "chat_message_revisions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "chat_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"user_id" uuid,
	"identity_id" uuid,
	"store_id" uuid,
	"conversation_id" text NOT NULL,
	"channel" text NOT NULL,
	"account" text NOT NULL,
	"direction" text NOT NULL,
	"kind" text NOT NULL,
	"text" text,
	"payload" json NOT NULL,
	"platform_message_id" text,
	"forwarded" boolean DEFAULT false NOT NULL,
	"opted_out" boolean DEFAULT false NOT NULL,
	"sent_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone NOT NULL,
	"edited_at" timestamp (3) with time zone,
	CONSTRAINT "chat_messages_platform" UNIQUE("org_id","channel","account","platform_message_id"),
	CONSTRAINT "chat_messages_org_id" UNIQUE("org_id","id"),
	CONSTRAINT "chat_messages_direction" CHECK ("chat_messages"."direction" in ('inbound', 'outbound'))
);
--> statement-breakpoint
ALTER TABLE "chat_messages" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "memory_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"scope" text NOT NULL,
	"store_id" uuid,
	"user_id" uuid,
	"fact_id" uuid NOT NULL,
	"actor" text NOT NULL,
	"agent_id" text NOT NULL,
	"reason" text,
	"old_value" json,
	"new_value" json,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memory_events" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "org_facts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"key" text NOT NULL,
	"value" json NOT NULL,
	"search_text" text NOT NULL,
	"confidence" double precision NOT NULL,
	"tags" text[] NOT NULL,
	"tier" text NOT NULL,
	"half_life_days" double precision NOT NULL,
	"ttl_days" double precision,
	"reasoning" text,
	"source_message_id" text collate "C" NOT NULL,
	"written_by" text NOT NULL,
	"pinned" boolean DEFAULT false NOT NULL,
	"observed_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"org_id" uuid NOT NULL,
	CONSTRAINT "org_facts_source" UNIQUE("org_id","agent_id","key","source_message_id"),
	CONSTRAINT "org_facts_confidence" CHECK ("org_facts"."confidence" between 0 and 1)
);
--> statement-breakpoint
ALTER TABLE "org_facts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "store_facts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"key" text NOT NULL,
	"value" json NOT NULL,
	"search_text" text NOT NULL,
	"confidence" double precision NOT NULL,
	"tags" text[] NOT NULL,
	"tier" text NOT NULL,
	"half_life_days" double precision NOT NULL,
	"ttl_days" double precision,
	"reasoning" text,
	"source_message_id" text collate "C" NOT NULL,
	"written_by" text NOT NULL,
	"pinned" boolean DEFAULT false NOT NULL,
	"observed_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"org_id" uuid NOT NULL,
	"store_id" uuid NOT NULL,
	CONSTRAINT "store_facts_source" UNIQUE("store_id","agent_id","key","source_message_id"),
	CONSTRAINT "store_facts_confidence" CHECK ("store_facts"."confidence" between 0 and 1)
);
--> statement-breakpoint
ALTER TABLE "store_facts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "user_facts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"key" text NOT NULL,
	"value" json NOT NULL,
	"search_text" text NOT NULL,
	"confidence" double precision NOT NULL,
	"tags" text[] NOT NULL,
	"tier" text NOT NULL,
	"half_life_days" double precision NOT NULL,
	"ttl_days" double precision,
	"reasoning" text,
	"source_message_id" text collate "C" NOT NULL,
	"written_by" text NOT NULL,
	"pinned" boolean DEFAULT false NOT NULL,
	"observed_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"identity_id" uuid,
	CONSTRAINT "user_facts_source" UNIQUE("user_id","agent_id","key","source_message_id"),
	CONSTRAINT "user_facts_confidence" CHECK ("user_facts"."confidence" between 0 and 1)
);
--> statement-breakpoint
ALTER TABLE "user_facts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid,
	"kind" text NOT NULL,
	"dedupe_key" text NOT NULL,
	"payload" json NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"run_at" timestamp (3) with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "jobs_dedupe" UNIQUE("kind","dedupe_key"),
	CONSTRAINT "jobs_state" CHECK ("jobs"."state" in ('queued', 'running', 'done', 'dead'))
);
--> statement-breakpoint
ALTER TABLE "jobs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "memory_kv" (
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"identity_id" uuid,
	"key" text NOT NULL,
	"value" json NOT NULL,
	"bytes" integer NOT NULL,
	"written_by" text NOT NULL,
	"agent_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "memory_kv_entry" UNIQUE NULLS NOT DISTINCT("org_id","user_id","identity_id","key")
);
--> statement-breakpoint
ALTER TABLE "memory_kv" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "orgs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "orgs_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
ALTER TABLE "orgs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "stores" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "stores_org_slug" UNIQUE("org_id","slug"),
	CONSTRAINT "stores_org_id" UNIQUE("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "stores" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "channel_identities" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"external_id" text NOT NULL,
	"username" text,
	"first_name" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"unreachable_at" timestamp (3) with time zone,
	CONSTRAINT "channel_identities_external" UNIQUE("org_id","channel","external_id"),
	CONSTRAINT "channel_identities_org_id" UNIQUE("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "channel_identities" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"role" text DEFAULT 'customer' NOT NULL,
	"status" text NOT NULL,
	"username" text,
	"first_name" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"approved_at" timestamp (3) with time zone,
	CONSTRAINT "users_org_id" UNIQUE("org_id","id"),
	CONSTRAINT "users_role" CHECK ("users"."role" in ('customer', 'operator')),
	CONSTRAINT "users_status" CHECK ("users"."status" in ('pending', 'approved', 'blocked'))
);
--> statement-breakpoint
ALTER TABLE "users" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_fk" FOREIGN KEY ("org_id","pinned_user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_store_fk" FOREIGN KEY ("org_id","pinned_store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotent_calls" ADD CONSTRAINT "idempotent_calls_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD CONSTRAINT "channel_accounts_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD CONSTRAINT "channel_accounts_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_updates" ADD CONSTRAINT "channel_updates_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_message_revisions" ADD CONSTRAINT "chat_message_revisions_message_fk" FOREIGN KEY ("org_id","message_id") REFERENCES "chat_messages"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_identity_fk" FOREIGN KEY ("org_id","identity_id") REFERENCES "channel_identities"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_events" ADD CONSTRAINT "memory_events_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "org_facts" ADD CONSTRAINT "org_facts_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "store_facts" ADD CONSTRAINT "store_facts_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_facts" ADD CONSTRAINT "user_facts_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_facts" ADD CONSTRAINT "user_facts_identity_fk" FOREIGN KEY ("org_id","identity_id") REFERENCES "channel_identities"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_kv" ADD CONSTRAINT "memory_kv_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_kv" ADD CONSTRAINT "memory_kv_identity_fk" FOREIGN KEY ("org_id","identity_id") REFERENCES "channel_identities"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stores" ADD CONSTRAINT "stores_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_identities" ADD CONSTRAINT "channel_identities_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_org_idx" ON "api_keys" USING btree ("org_id");--> statement-breakpoint
CREATE INDEX "idempotent_calls_created_idx" ON "idempotent_calls" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "channel_accounts_org_idx" ON "channel_accounts" USING btree ("org_id");--> statement-breakpoint
CREATE INDEX "channel_updates_time_idx" ON "channel_updates" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "chat_messages_user_time_idx" ON "chat_messages" USING btree ("user_id","sent_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "chat_messages_time_idx" ON "chat_messages" USING brin ("sent_at");--> statement-breakpoint
CREATE INDEX "chat_messages_identity_idx" ON "chat_messages" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "chat_messages_store_idx" ON "chat_messages" USING btree ("store_id") WHERE "chat_messages"."store_id" is not null;--> statement-breakpoint
CREATE INDEX "memory_events_fact_idx" ON "memory_events" USING btree ("org_id","fact_id","at");--> statement-breakpoint
CREATE INDEX "memory_events_time_idx" ON "memory_events" USING btree ("org_id","at");--> statement-breakpoint
CREATE INDEX "org_facts_time_idx" ON "org_facts" USING btree ("org_id","observed_at");--> statement-breakpoint
CREATE INDEX "org_facts_message_idx" ON "org_facts" USING btree ("org_id","source_message_id");--> statement-breakpoint
CREATE INDEX "store_facts_time_idx" ON "store_facts" USING btree ("store_id","observed_at");--> statement-breakpoint
CREATE INDEX "store_facts_message_idx" ON "store_facts" USING btree ("org_id","source_message_id");--> statement-breakpoint
CREATE INDEX "user_facts_time_idx" ON "user_facts" USING btree ("user_id","observed_at");--> statement-breakpoint
CREATE INDEX "user_facts_message_idx" ON "user_facts" USING btree ("org_id","source_message_id");--> statement-breakpoint
CREATE INDEX "user_facts_identity_idx" ON "user_facts" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "jobs_due_idx" ON "jobs" USING btree ("run_at") WHERE "jobs"."state" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "memory_kv_identity_idx" ON "memory_kv" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "channel_identities_user_idx" ON "channel_identities" USING btree ("user_id");--> statement-breakpoint
CREATE POLICY "api_keys_tenant" ON "api_keys" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "idempotent_calls_tenant" ON "idempotent_calls" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "channel_accounts_tenant" ON "channel_accounts" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "channel_updates_tenant" ON "channel_updates" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "chat_message_revisions_tenant" ON "chat_message_revisions" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "chat_messages_tenant" ON "chat_messages" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "memory_events_tenant" ON "memory_events" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "org_facts_tenant" ON "org_facts" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "store_facts_tenant" ON "store_facts" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "user_facts_tenant" ON "user_facts" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "jobs_tenant" ON "jobs" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "memory_kv_tenant" ON "memory_kv" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "orgs_tenant" ON "orgs" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "stores_tenant" ON "stores" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "channel_identities_tenant" ON "channel_identities" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "users_tenant" ON "users" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);