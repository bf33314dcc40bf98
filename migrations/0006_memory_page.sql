CREATE TABLE "memory_counts" (
	"org_id" uuid NOT NULL,
	"day" text NOT NULL,
	"counted_at" timestamp (3) with time zone NOT NULL,
	"counts" json NOT NULL,
	CONSTRAINT "memory_counts_pk" PRIMARY KEY("org_id","day")
);
--> statement-breakpoint
ALTER TABLE "memory_counts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "erasures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"state" text NOT NULL,
	"requested_by" text NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"erased_at" timestamp (3) with time zone,
	"verified_at" timestamp (3) with time zone,
	"scrubbed_at" timestamp (3) with time zone,
	"report" json,
	"previous_hash" text,
	"hash" text,
	CONSTRAINT "erasures_position" UNIQUE("org_id","position"),
	CONSTRAINT "erasures_kind" CHECK ("erasures"."kind" in ('user', 'store', 'org', 'fact', 'message', 'conversation', 'reset')),
	CONSTRAINT "erasures_state" CHECK ("erasures"."state" in ('erasing', 'erased', 'verified', 'scrubbed', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "erasures" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "rule_versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"store_id" uuid,
	"version" integer NOT NULL,
	"text" text NOT NULL,
	"tokens" integer NOT NULL,
	"reason" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "rule_versions_version" UNIQUE NULLS NOT DISTINCT("org_id","store_id","version")
);
--> statement-breakpoint
ALTER TABLE "rule_versions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "possible_duplicates" (
	"org_id" uuid NOT NULL,
	"first_id" uuid NOT NULL,
	"second_id" uuid NOT NULL,
	"likeness" double precision NOT NULL,
	"found_at" timestamp (3) with time zone NOT NULL,
	"dismissed_at" timestamp (3) with time zone,
	"dismissed_by" text,
	CONSTRAINT "possible_duplicates_pk" PRIMARY KEY("first_id","second_id")
);
--> statement-breakpoint
ALTER TABLE "possible_duplicates" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "last_used_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "memory_counts" ADD CONSTRAINT "memory_counts_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_versions" ADD CONSTRAINT "rule_versions_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_versions" ADD CONSTRAINT "rule_versions_store_fk" FOREIGN KEY ("org_id","store_id") REFERENCES "stores"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "possible_duplicates" ADD CONSTRAINT "possible_duplicates_first_fk" FOREIGN KEY ("org_id","first_id") REFERENCES "search_documents"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "possible_duplicates" ADD CONSTRAINT "possible_duplicates_second_fk" FOREIGN KEY ("org_id","second_id") REFERENCES "search_documents"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "erasures_open_idx" ON "erasures" USING btree ("requested_at") WHERE "erasures"."state" not in ('scrubbed', 'failed');--> statement-breakpoint
CREATE INDEX "rule_versions_store_idx" ON "rule_versions" USING btree ("store_id");--> statement-breakpoint
CREATE INDEX "possible_duplicates_second_idx" ON "possible_duplicates" USING btree ("second_id");--> statement-breakpoint
CREATE INDEX "possible_duplicates_open_idx" ON "possible_duplicates" USING btree ("org_id","likeness" DESC NULLS FIRST,"first_id","second_id") WHERE "possible_duplicates"."dismissed_at" is null;--> statement-breakpoint
CREATE INDEX "chat_messages_conversation_idx" ON "chat_messages" USING btree ("org_id","channel","account","conversation_id","sent_at","id");--> statement-breakpoint
CREATE INDEX "chat_messages_nobody_idx" ON "chat_messages" USING btree ("org_id","sent_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "chat_messages"."user_id" is null;--> statement-breakpoint
CREATE INDEX "org_facts_contested_idx" ON "org_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and contested;--> statement-breakpoint
CREATE INDEX "org_facts_watch_idx" ON "org_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and split_part(key, '.', 1) = 'watch';--> statement-breakpoint
CREATE INDEX "store_facts_contested_idx" ON "store_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and contested;--> statement-breakpoint
CREATE INDEX "store_facts_watch_idx" ON "store_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and split_part(key, '.', 1) = 'watch';--> statement-breakpoint
CREATE INDEX "user_facts_contested_idx" ON "user_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and contested;--> statement-breakpoint
CREATE INDEX "user_facts_watch_idx" ON "user_facts" USING btree ("org_id",coalesce(last_confirmed_at, observed_at) desc,id desc) WHERE merged_into is null and archived_at is null and split_part(key, '.', 1) = 'watch';--> statement-breakpoint
DROP INDEX "job_runs_kind_idx";--> statement-breakpoint
CREATE INDEX "jobs_org_time_idx" ON "jobs" USING btree ("org_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_dead_idx" ON "jobs" USING btree ("org_id","created_at","id") WHERE "jobs"."state" = 'dead';--> statement-breakpoint
CREATE INDEX "turns_time_idx" ON "turns" USING btree ("org_id","opened_at","id");--> statement-breakpoint
CREATE INDEX "job_runs_kind_idx" ON "job_runs" USING btree ("org_id","kind","started_at");--> statement-breakpoint
CREATE INDEX "org_facts_strength_idx" ON "org_facts" USING btree ("org_id","agent_id","claim_tier","claim_half_life_days",fades_at desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "org_facts_archived_idx" ON "org_facts" USING btree ("org_id",archived_at desc,id desc) WHERE merged_into is null and archived_at is not null;--> statement-breakpoint
CREATE INDEX "store_facts_strength_idx" ON "store_facts" USING btree ("store_id","agent_id","claim_tier","claim_half_life_days",fades_at desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "store_facts_archived_idx" ON "store_facts" USING btree ("store_id",archived_at desc,id desc) WHERE merged_into is null and archived_at is not null;--> statement-breakpoint
CREATE INDEX "user_facts_strength_idx" ON "user_facts" USING btree ("user_id","agent_id","claim_tier","claim_half_life_days",fades_at desc,id desc) WHERE merged_into is null and archived_at is null;--> statement-breakpoint
CREATE INDEX "user_facts_archived_idx" ON "user_facts" USING btree ("user_id",archived_at desc,id desc) WHERE merged_into is null and archived_at is not null;--> statement-breakpoint
CREATE POLICY "memory_counts_tenant" ON "memory_counts" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "erasures_tenant" ON "erasures" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "rule_versions_tenant" ON "rule_versions" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "possible_duplicates_tenant" ON "possible_duplicates" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON erasures, memory_counts, possible_duplicates, rule_versions TO souvenir_app;
