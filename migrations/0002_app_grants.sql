GRANT SELECT, INSERT, UPDATE, DELETE ON
  orgs, stores, users, channel_identities, channel_accounts, api_keys, idempotent_calls, memory_kv,
  channel_updates, chat_messages, chat_message_revisions, org_facts, store_facts, user_facts, memory_events, jobs
TO souvenir_app;
