import { and, between, desc, eq, lt, sql } from "drizzle-orm";
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

  /** Whether `noteUpdate` was told of this, as long as notes are kept. */
  async isNoted(
    { orgId }: Scope,
    { channel, account, updateId }: { channel: string; account: string; updateId: string },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .select({ id: channelUpdates.id })
      .from(channelUpdates)
      .where(
        and(
          eq(channelUpdates.orgId, orgId),
          eq(channelUpdates.channel, channel),
          eq(channelUpdates.account, account),
          eq(channelUpdates.updateId, updateId),
        ),
      );
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

  async isArchived({ orgId }: Scope, key: PlatformKey, tx: Tx): Promise<boolean> {
    const rows = await tx
      .select({ id: chatMessages.id })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), isCalled(key)));
    return rows.length > 0;
  }

  /** The archived message, held until the transaction ends so that two edits take turns. */
  async findForEdit({ orgId }: Scope, key: PlatformKey, tx: Tx) {
    const [row] = await tx
      .select({
        id: chatMessages.id,
        userId: chatMessages.userId,
        direction: chatMessages.direction,
        kind: chatMessages.kind,
        text: chatMessages.text,
        payload: chatMessages.payload,
        turnId: chatMessages.turnId,
        optedOut: chatMessages.optedOut,
        editedAt: chatMessages.editedAt,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), isCalled(key)))
      .for("update");
    return row;
  }

  /** Replaces a message's content and keeps what it was as a revision. @returns how often it was edited now */
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
  ): Promise<number> {
    const [kept] = await tx.execute<{ revision: number }>(sql`
      insert into chat_message_revisions (org_id, message_id, revision, text, payload, replaced_at)
      select m.org_id, m.id,
        (select count(*) from chat_message_revisions r
          where r.org_id = ${orgId} and r.message_id = m.id),
        m.text, m.payload, ${edit.at.toISOString()}
      from chat_messages m where m.org_id = ${orgId} and m.id = ${messageId}
      returning revision`);
    const { at: _, ...content } = edit;
    await tx
      .update(chatMessages)
      .set(content)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, messageId)));
    return kept === undefined ? 0 : kept.revision + 1;
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

  /** @returns the messages erased; their revisions go with them */
  async delete(
    { orgId }: Scope,
    account: { channel: string; account: string },
    platformMessageIds: readonly string[],
    tx: Tx,
  ) {
    const { id, turnId, userId, direction } = chatMessages;
    return tx
      .delete(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.channel, account.channel),
          eq(chatMessages.account, account.account),
          // One parameter: a platform may name more messages than a statement has parameters.
          sql`${chatMessages.platformMessageId} = any(array(
            select json_array_elements_text(${JSON.stringify(platformMessageIds)}::json)))`,
        ),
      )
      .returning({ id, turnId, userId, direction });
  }

  /** The newest messages of a turn, newest first, and how many of the person's it has in all. */
  async ofTurn({ orgId }: Scope, turnId: string, limit: number, tx: Tx) {
    const rows = await tx
      .select({
        id: chatMessages.id,
        direction: chatMessages.direction,
        text: chatMessages.text,
        forwarded: chatMessages.forwarded,
        optedOut: chatMessages.optedOut,
        identityId: chatMessages.identityId,
        sentAt: chatMessages.sentAt,
        revision: sql<number>`(select count(*)::int from chat_message_revisions r
          where r.org_id = ${orgId} and r.message_id = ${chatMessages.id})`,
        inbound: sql<number>`(count(*) filter (where ${chatMessages.direction} = 'inbound') over ())::int`,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.turnId, turnId)))
      .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
      .limit(limit);
    return {
      messages: rows.map(({ inbound: _, ...message }) => message),
      inbound: rows[0]?.inbound ?? 0,
    };
  }

  /** Takes every message of a turn out of what is learned and searched. @returns their ids */
  async optOut({ orgId }: Scope, turnId: string, tx: Tx): Promise<string[]> {
    const rows = await tx
      .update(chatMessages)
      .set({ optedOut: true })
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.turnId, turnId)))
      .returning({ id: chatMessages.id });
    return rows.map(({ id }) => id);
  }

  /** What was last said to a person in a conversation within a span of time, both ends included, or before a turn of it. */
  async lastAnswer(
    { orgId }: Scope,
    place: { userId: string; channel: string; account: string; conversationId: string },
    span: { from: Date; to: Date; beforeTurn?: string },
    tx: Tx,
  ) {
    const [row] = await tx
      .select({
        text: chatMessages.text,
        sentAt: chatMessages.sentAt,
        optedOut: chatMessages.optedOut,
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.userId, place.userId),
          between(chatMessages.sentAt, span.from, span.to),
          eq(chatMessages.channel, place.channel),
          eq(chatMessages.account, place.account),
          eq(chatMessages.conversationId, place.conversationId),
          eq(chatMessages.direction, "outbound"),
          sql`coalesce(${chatMessages.deliveryStatus}, 'sent') not in ('sending', 'failed')`,
          span.beforeTurn === undefined
            ? undefined
            : sql`${chatMessages.turnId} is distinct from ${span.beforeTurn}::uuid`,
        ),
      )
      .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
      .limit(1);
    return row;
  }

  /** Where an archived message was said. */
  async conversationOf({ orgId }: Scope, messageId: string, tx: Tx) {
    const [row] = await tx
      .select({
        channel: chatMessages.channel,
        account: chatMessages.account,
        conversationId: chatMessages.conversationId,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, messageId)));
    return row;
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
        failed: sql<boolean>`${chatMessages.deliveryStatus} is not distinct from 'failed'`,
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

function isCalled({ channel, account, platformMessageId }: PlatformKey) {
  return and(
    eq(chatMessages.channel, channel),
    eq(chatMessages.account, account),
    eq(chatMessages.platformMessageId, platformMessageId),
  );
}
