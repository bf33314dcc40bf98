import { and, desc, eq, inArray, lt, sql } from "drizzle-orm";
import { channelUpdates, chatMessageRevisions, chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";
import type { HistoryPoint } from "./cursor.ts";

interface Scope {
  readonly orgId: string;
}

export type NewMessage = Omit<typeof chatMessages.$inferInsert, "orgId">;

/** A message by what the platform calls it. */
interface PlatformKey {
  readonly channel: string;
  readonly account: string;
  readonly platformMessageId: string;
}

export class ChatRepository {
  /**
   * Notes a delivery; a concurrent delivery of the same update waits here until this transaction ends.
   *
   * @returns false for a redelivery
   */
  async noteUpdate(
    { orgId }: Scope,
    update: { channel: string; account: string; updateId: string; receivedAt: Date },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .insert(channelUpdates)
      .values({ orgId, ...update })
      .onConflictDoNothing()
      .returning({ id: channelUpdates.id });
    return rows.length > 0;
  }

  /** @returns undefined when the platform's message is archived already */
  async insert({ orgId }: Scope, message: NewMessage, tx: Tx): Promise<string | undefined> {
    const [row] = await tx
      .insert(chatMessages)
      .values({ orgId, ...message })
      .onConflictDoNothing()
      .returning({ id: chatMessages.id });
    return row?.id;
  }

  /** The archived message, held until the transaction ends so that two edits take turns. */
  async findForEdit({ orgId }: Scope, key: PlatformKey, tx: Tx) {
    const [row] = await tx
      .select({
        id: chatMessages.id,
        text: chatMessages.text,
        payload: chatMessages.payload,
        editedAt: chatMessages.editedAt,
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.channel, key.channel),
          eq(chatMessages.account, key.account),
          eq(chatMessages.platformMessageId, key.platformMessageId),
        ),
      )
      .for("update");
    return row;
  }

  /** Replaces a message's content and keeps what it was as the next revision. */
  async edit(
    { orgId }: Scope,
    messageId: string,
    edit: {
      kind: string;
      text: string | null;
      payload: string;
      editedAt: Date;
      optedOut: boolean;
      at: Date;
    },
    tx: Tx,
  ): Promise<void> {
    await tx.execute(sql`
      insert into chat_message_revisions (org_id, message_id, revision, text, payload, replaced_at)
      select m.org_id, m.id,
        (select count(*) from chat_message_revisions r
          where r.org_id = ${orgId} and r.message_id = m.id),
        m.text, m.payload, ${edit.at.toISOString()}
      from chat_messages m where m.org_id = ${orgId} and m.id = ${messageId}`);
    const { at: _, ...content } = edit;
    await tx
      .update(chatMessages)
      .set(content)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, messageId)));
  }

  revisions({ orgId }: Scope, messageId: string, tx: Tx) {
    return tx
      .select()
      .from(chatMessageRevisions)
      .where(
        and(eq(chatMessageRevisions.orgId, orgId), eq(chatMessageRevisions.messageId, messageId)),
      )
      .orderBy(chatMessageRevisions.revision);
  }

  /** @returns the ids of the messages erased; their revisions go with them */
  async delete(
    { orgId }: Scope,
    account: { channel: string; account: string },
    platformMessageIds: readonly string[],
    tx: Tx,
  ): Promise<string[]> {
    const rows = await tx
      .delete(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.channel, account.channel),
          eq(chatMessages.account, account.account),
          inArray(chatMessages.platformMessageId, [...platformMessageIds]),
        ),
      )
      .returning({ id: chatMessages.id });
    return rows.map((row) => row.id);
  }

  /** The newest `limit` messages of a person before a point, newest first. */
  history(
    { orgId }: Scope,
    userId: string,
    page: { limit: number; before: HistoryPoint | undefined },
    tx: Tx,
  ) {
    const { limit, before } = page;
    const earlier = before && [
      before.id === undefined
        ? lt(chatMessages.sentAt, before.sentAt)
        : sql`(${chatMessages.sentAt}, ${chatMessages.id}) < (${before.sentAt.toISOString()}::timestamptz, ${before.id}::uuid)`,
    ];
    return tx
      .select({
        id: chatMessages.id,
        direction: chatMessages.direction,
        kind: chatMessages.kind,
        text: chatMessages.text,
        channel: chatMessages.channel,
        sentAt: chatMessages.sentAt,
        editedAt: chatMessages.editedAt,
      })
      .from(chatMessages)
      .where(
        and(eq(chatMessages.orgId, orgId), eq(chatMessages.userId, userId), ...(earlier ?? [])),
      )
      .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
      .limit(limit);
  }

  /** Across all orgs, in batches: needs a system transaction. */
  async deleteSentBefore(before: Date, batch: number, tx: Tx): Promise<number> {
    const rows = await tx.execute(sql`
      delete from chat_messages where id in (
        select id from chat_messages where sent_at < ${before.toISOString()} limit ${batch}
      ) returning 1`);
    return rows.length;
  }

  /** Across all orgs: needs a system transaction. Platforms stop redelivering after a day. */
  async forgetUpdatesBefore(before: Date, tx: Tx): Promise<number> {
    const rows = await tx
      .delete(channelUpdates)
      .where(lt(channelUpdates.receivedAt, before))
      .returning({ id: channelUpdates.id });
    return rows.length;
  }
}
