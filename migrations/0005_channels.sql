CREATE TABLE "audit_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"reason" text,
	"details" json
);
--> statement-breakpoint
ALTER TABLE "audit_events" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "forward_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"event" text NOT NULL,
	"message_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"account" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"tried_since" timestamp (3) with time zone,
	"died_at" timestamp (3) with time zone,
	CONSTRAINT "forward_deliveries_state" CHECK ("forward_deliveries"."state" in ('pending', 'dead')),
	CONSTRAINT "forward_deliveries_event" CHECK ("forward_deliveries"."event" in ('message.received', 'message.edited', 'message.deleted', 'identity.linked'))
);
--> statement-breakpoint
ALTER TABLE "forward_deliveries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "forward_queues" (
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"last_position" bigint NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "forward_queues_pk" PRIMARY KEY("org_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "forward_queues" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "identity_link_moves" (
	"org_id" uuid NOT NULL,
	"link_id" uuid NOT NULL,
	"identity_id" uuid NOT NULL,
	CONSTRAINT "identity_link_moves_pk" PRIMARY KEY("link_id","identity_id")
);
--> statement-breakpoint
ALTER TABLE "identity_link_moves" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "identity_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"from_user_id" uuid NOT NULL,
	"to_user_id" uuid NOT NULL,
	"proof" text NOT NULL,
	"actor" text NOT NULL,
	"reason" text,
	"at" timestamp (3) with time zone NOT NULL,
	"undone_at" timestamp (3) with time zone,
	"undone_by" text,
	CONSTRAINT "identity_links_org_id" UNIQUE("org_id","id"),
	CONSTRAINT "identity_links_proof" CHECK ("identity_links"."proof" in ('code', 'assertion', 'admin', 'platform'))
);
--> statement-breakpoint
ALTER TABLE "identity_links" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "link_codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"org_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	CONSTRAINT "link_codes_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "link_codes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD COLUMN "token_variable" text;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD COLUMN "verify_variable" text;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD COLUMN "forward_url" text;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD COLUMN "forward_secret_variable" text;--> statement-breakpoint
ALTER TABLE "channel_accounts" ADD COLUMN "auto_approve" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "delivery_status" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "linked_into" uuid;--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_org_id_orgs_id_fk" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "forward_deliveries" ADD CONSTRAINT "forward_deliveries_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "forward_queues" ADD CONSTRAINT "forward_queues_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_link_moves" ADD CONSTRAINT "identity_link_moves_link_fk" FOREIGN KEY ("org_id","link_id") REFERENCES "identity_links"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_link_moves" ADD CONSTRAINT "identity_link_moves_identity_fk" FOREIGN KEY ("org_id","identity_id") REFERENCES "channel_identities"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_links" ADD CONSTRAINT "identity_links_from_fk" FOREIGN KEY ("org_id","from_user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_links" ADD CONSTRAINT "identity_links_to_fk" FOREIGN KEY ("org_id","to_user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "link_codes" ADD CONSTRAINT "link_codes_user_fk" FOREIGN KEY ("org_id","user_id") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_events_time_idx" ON "audit_events" USING btree ("org_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_subject_idx" ON "audit_events" USING btree ("org_id","subject_kind","subject_id");--> statement-breakpoint
CREATE INDEX "forward_deliveries_head_idx" ON "forward_deliveries" USING btree ("user_id","position") WHERE "forward_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "forward_deliveries_pending_idx" ON "forward_deliveries" USING btree ("org_id","id") WHERE "forward_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "forward_deliveries_dead_idx" ON "forward_deliveries" USING btree ("org_id","id") WHERE "forward_deliveries"."state" = 'dead';--> statement-breakpoint
CREATE INDEX "forward_deliveries_user_idx" ON "forward_deliveries" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "forward_queues_next_idx" ON "forward_queues" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "identity_link_moves_identity_idx" ON "identity_link_moves" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "identity_links_from_idx" ON "identity_links" USING btree ("from_user_id");--> statement-breakpoint
CREATE INDEX "identity_links_to_idx" ON "identity_links" USING btree ("to_user_id");--> statement-breakpoint
CREATE INDEX "link_codes_user_idx" ON "link_codes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "link_codes_expires_idx" ON "link_codes" USING btree ("expires_at");--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_linked_fk" FOREIGN KEY ("org_id","linked_into") REFERENCES "users"("org_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chat_messages_sending_idx" ON "chat_messages" USING btree ("archived_at") WHERE "chat_messages"."delivery_status" = 'sending';--> statement-breakpoint
CREATE INDEX "users_status_idx" ON "users" USING btree ("org_id","status","id");--> statement-breakpoint
CREATE INDEX "users_linked_idx" ON "users" USING btree ("linked_into") WHERE "users"."linked_into" is not null;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_delivery_status" CHECK ("chat_messages"."delivery_status" in ('sending', 'sent', 'delivered', 'read', 'failed'));--> statement-breakpoint
CREATE POLICY "audit_events_tenant" ON "audit_events" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "forward_deliveries_tenant" ON "forward_deliveries" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "forward_queues_tenant" ON "forward_queues" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "identity_link_moves_tenant" ON "identity_link_moves" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "identity_links_tenant" ON "identity_links" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
CREATE POLICY "link_codes_tenant" ON "link_codes" AS PERMISSIVE FOR ALL TO "souvenir_app" USING (org_id = nullif(current_setting('app.org_id', true), '')::uuid) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), '')::uuid);--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON audit_events, forward_deliveries, forward_queues, identity_link_moves, identity_links, link_codes TO souvenir_app;
