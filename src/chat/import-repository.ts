import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import type { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export type ImportedRow = Omit<typeof chatMessages.$inferInsert, "id" | "orgId" | "storeId">;

/** Puts messages into the archive by the hundred, in a statement. */
export class ImportRepository {
  /** @returns the platform's ids of those that were not there yet */
  async insert({ orgId }: Scope, messages: readonly ImportedRow[], tx: Tx): Promise<string[]> {
    if (messages.length === 0) return [];
    // Ids in the order of the file, which tells messages of one second apart.
    const rows = messages.map((message) => ({ ...message, id: v7() }));
    const inserted = await tx.execute<{ platform_message_id: string }>(sql`
      insert into chat_messages (id, org_id, user_id, identity_id, conversation_id, channel, account, direction, kind,
        text, payload, platform_message_id, forwarded, opted_out, search_due, sent_at, archived_at, edited_at)
      select id, ${orgId}::uuid, "userId", "identityId", "conversationId", channel, account, direction, kind, text,
        payload::json, "platformMessageId", forwarded, "optedOut", "searchDue", "sentAt", "archivedAt", "editedAt"
      from json_to_recordset(${JSON.stringify(rows)}::json) as message(id uuid, "userId" uuid, "identityId" uuid,
        "conversationId" text, channel text, account text, direction text, kind text, text text, payload text,
        "platformMessageId" text, forwarded boolean, "optedOut" boolean, "searchDue" boolean, "sentAt" timestamptz,
        "archivedAt" timestamptz, "editedAt" timestamptz)
      on conflict do nothing returning platform_message_id`);
    return inserted.map((row) => row.platform_message_id);
  }
}
