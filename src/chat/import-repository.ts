import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import type { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";
import type { ArchivedVersion } from "./imported.ts";

interface Scope {
  readonly orgId: string;
}

interface Account {
  readonly channel: string;
  readonly account: string;
}

export type ImportedRow = Omit<typeof chatMessages.$inferInsert, "id" | "orgId" | "storeId">;

export interface PlatformVersion extends ArchivedVersion {
  readonly platformMessageId: string;
  readonly userId: string | null;
}

/** The archive by the hundred messages, in a statement each. */
export class ImportRepository {
  /** What the archive holds under these ids of an account. */
  async find(
    { orgId }: Scope,
    { channel, account }: Account,
    platformMessageIds: readonly string[],
    tx: Tx,
  ): Promise<PlatformVersion[]> {
    const rows = await tx.execute<{
      platform_message_id: string;
      user_id: string | null;
      kind: string;
      text: string | null;
      edited_at: string | null;
    }>(sql`
      select platform_message_id, user_id, kind, text, edited_at from chat_messages
      where org_id = ${orgId} and channel = ${channel} and account = ${account}
        and platform_message_id = any(array(
          select json_array_elements_text(${JSON.stringify(platformMessageIds)}::json)))`);
    return rows.map((row) => ({
      platformMessageId: row.platform_message_id,
      userId: row.user_id,
      kind: row.kind,
      text: row.text,
      editedAt: row.edited_at === null ? null : new Date(row.edited_at),
    }));
  }

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
