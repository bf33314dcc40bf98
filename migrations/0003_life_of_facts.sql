CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sessions_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "sessions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "fact_decisions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"scope" text NOT NULL,
	"store_id" uuid,
	"user_id" uuid,
	"agent_id" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"fact_id" uuid NOT NULL,
	"replaced_by" uuid,
	"actor" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "fact_decisions_scope" CHECK ("fact_decisions"."scope" in ('org', 'store', 'user')),
	CONSTRAINT "fact_decisions_kind" CHECK ("fact_decisions"."kind" in ('settle', 'keep_all', 'edit', 'pin', 'unpin', 'archive', 'restore'))
);
--> statement-breakpoint
ALTER TABLE "fact_decisions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "job_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid,
	"job_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"attempt" integer NOT NULL,
	"outcome" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"counts" json,
	"error" text,
	CONSTRAINT "job_runs_outcome" CHECK ("job_runs"."outcome" in ('running', 'done', 'failed', 'lost'))
);
--> statement-breakpoint
ALTER TABLE "job_runs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "extraction_usage" (
	"org_id" uuid NOT NULL,
	"day" text NOT NULL,
	"turns" integer DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "extraction_usage_pk" PRIMARY KEY("org_id","day")
);
--> statement-breakpoint
ALTER TABLE "extraction_usage" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "turns" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"store_id" uuid,
	"agent_id" text NOT NULL,
	"channel" text NOT NULL,
	"account" text NOT NULL,
	"conversation_id" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"last_message_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"extracted_at" timestamp (3) with time zone,
	"is_correction" boolean DEFAULT false NOT NULL,
	"arm" text NOT NULL,
	"thumb" text,
	"regenerated" boolean DEFAULT false NOT NULL,
	"model" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"fact_count" integer,
	"dropped" json,
	CONSTRAINT "turns_state" CHECK ("turns"."state" in ('open', 'closed', 'extracted', 'skipped', 'dead')),
	CONSTRAINT "turns_arm" CHECK ("turns"."arm" in ('on', 'off')),
	CONSTRAINT "turns_thumb" CHECK ("turns"."thumb" in ('up', 'down'))
);
--> statement-breakpoint
ALTER TABLE "turns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "turn_id" uuid;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "source_reason" text;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "conversation" text;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "withdrawn_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "consolidated_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "merged_into" uuid;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "archived_reason" text;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "superseded_by" uuid;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "contested" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "confirmation_count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "claim_confidence" double precision;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "claim_tags" text[];--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "claim_tier" text;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "claim_half_life_days" double precision;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "last_confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "org_facts" ADD COLUMN "fades_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "source_reason" text;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "conversation" text;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "withdrawn_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "consolidated_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "merged_into" uuid;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "archived_reason" text;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "superseded_by" uuid;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "contested" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "confirmation_count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "claim_confidence" double precision;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "claim_tags" text[];--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "claim_tier" text;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "claim_half_life_days" double precision;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "last_confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "store_facts" ADD COLUMN "fades_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "source_reason" text;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "conversation" text;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "withdrawn_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "consolidated_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "merged_into" uuid;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "archived_reason" text;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "superseded_by" uuid;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "contested" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "confirmation_count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "claim_confidence" double precision;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "claim_tags" text[];--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "claim_tier" text;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "claim_half_life_days" double precision;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "last_confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_facts" ADD COLUMN "fades_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "orgs" ADD COLUMN "memory_enabled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "orgs" ADD COLUMN "memory_off_share" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orgs" ADD COLUMN "extraction_daily_limit" integer;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_org_id" UNIQUE("org_id","id");--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_key_fk" FOREIGN KEY ("org_id","key_id") REFERENCES "api_keys"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fact_decisions" ADD CONSTRAINT "fact_decisions_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fact_decisions" ADD CONSTRAINT "fact_decisions_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fact_decisions" ADD CONSTRAINT "fact_decisions_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "extraction_usage" ADD CONSTRAINT "extraction_usage_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "turns" ADD CONSTRAINT "turns_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "turns" ADD CONSTRAINT "turns_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sessions_key_idx" ON "sessions" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "sessions_expires_idx" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "fact_decisions_org_idx" ON "fact_decisions" USING btree ("org_id","agent_id","key") WHERE "fact_decisions"."scope" = 'org';--> statement-breakpoint
CREATE INDEX "fact_decisions_store_idx" ON "fact_decisions" USING btree ("store_id","agent_id","key");--> statement-breakpoint
CREATE INDEX "fact_decisions_user_idx" ON "fact_decisions" USING btree ("user_id","agent_id","key");--> statement-breakpoint
CREATE INDEX "job_runs_job_idx" ON "job_runs" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "job_runs_kind_idx" ON "job_runs" USING btree ("kind","started_at");--> statement-breakpoint
CREATE INDEX "job_runs_time_idx" ON "job_runs" USING btree ("started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "turns_open_idx" ON "turns" USING btree ("org_id","user_id","channel","account","conversation_id") WHERE "turns"."state" = 'open';--> statement-breakpoint
CREATE INDEX "turns_user_idx" ON "turns" USING btree ("user_id","opened_at");--> statement-breakpoint
CREATE INDEX "turns_store_idx" ON "turns" USING btree ("store_id") WHERE "turns"."store_id" is not null;--> statement-breakpoint
CREATE INDEX "turns_state_idx" ON "turns" USING btree ("org_id","state","opened_at");--> statement-breakpoint
CREATE INDEX "chat_messages_turn_idx" ON "chat_messages" USING btree ("turn_id") WHERE "chat_messages"."turn_id" is not null;--> statement-breakpoint
CREATE INDEX "org_facts_changed_idx" ON "org_facts" USING btree ("id") WHERE "org_facts"."consolidated_at" is null;--> statement-breakpoint
CREATE INDEX "org_facts_fades_idx" ON "org_facts" USING btree ("fades_at") WHERE "org_facts"."fades_at" is not null;--> statement-breakpoint
CREATE INDEX "org_facts_expires_idx" ON "org_facts" USING btree ("expires_at") WHERE "org_facts"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "store_facts_changed_idx" ON "store_facts" USING btree ("id") WHERE "store_facts"."consolidated_at" is null;--> statement-breakpoint
CREATE INDEX "store_facts_fades_idx" ON "store_facts" USING btree ("fades_at") WHERE "store_facts"."fades_at" is not null;--> statement-breakpoint
CREATE INDEX "store_facts_expires_idx" ON "store_facts" USING btree ("expires_at") WHERE "store_facts"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "user_facts_changed_idx" ON "user_facts" USING btree ("id") WHERE "user_facts"."consolidated_at" is null;--> statement-breakpoint
CREATE INDEX "user_facts_fades_idx" ON "user_facts" USING btree ("fades_at") WHERE "user_facts"."fades_at" is not null;--> statement-breakpoint
CREATE INDEX "user_facts_expires_idx" ON "user_facts" USING btree ("expires_at") WHERE "user_facts"."expires_at" is not null;--> statement-breakpoint
ALTER TABLE "orgs" ADD CONSTRAINT "orgs_memory_off_share" CHECK ("orgs"."memory_off_share" between 0 and 1);--> statement-breakpoint
CREATE POLICY "sessions_tenant" ON "sessions" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "fact_decisions_tenant" ON "fact_decisions" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "job_runs_tenant" ON "job_runs" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "extraction_usage_tenant" ON "extraction_usage" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "turns_tenant" ON "turns" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions, fact_decisions, job_runs, extraction_usage, turns TO souvenir_app;--> statement-breakpoint
-- Until now the only reason to archive a fact was that its source message had been edited.
UPDATE org_facts SET withdrawn_at = archived_at, archived_reason = 'withdrawn' WHERE archived_at IS NOT NULL;--> statement-breakpoint
UPDATE store_facts SET withdrawn_at = archived_at, archived_reason = 'withdrawn' WHERE archived_at IS NOT NULL;--> statement-breakpoint
UPDATE user_facts SET withdrawn_at = archived_at, archived_reason = 'withdrawn' WHERE archived_at IS NOT NULL;
