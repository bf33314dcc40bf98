import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { chatMessageRevisions, chatMessages } from "../db/schema/chat.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { HistoryPoint } from "./cursor.ts";

interface Scope {
  readonly orgId: string;
}

/** What a list shows of a text; the message's own page has all of it. */
const SHOWN_CHARACTERS = 4_000;
/** Messages of a conversation that are looked through for those that a reader may see: a group may be busy. */
const LOOKED_THROUGH = 200;

/** Whose messages: a person's, everybody's, or everybody's and nobody's. */
export type Whose = { readonly userId: string } | "people" | "all";

/** A stretch of time, and where to go on in it. */
export interface Stretch {
  readonly from: Date | undefined;
  readonly before: HistoryPoint | undefined;
  readonly limit: number;
}

/** A message as its conversation has it. */
export interface PlacedMessage {
  readonly id: string;
  readonly channel: string;
  readonly account: string;
  readonly conversationId: string;
  readonly sentAt: Date;
}

export type ArchiveRow = Awaited<ReturnType<ArchiveRepository["of"]>>[number];

/** Reads the archive for people who look through it. */
export class ArchiveRepository {
  /** A person's messages, newest first. */
  of({ orgId }: Scope, userId: string, stretch: Stretch, tx: Tx) {
    return newestFirst(orgId, eq(chatMessages.userId, userId), stretch, tx);
  }

  /** Messages of nobody, newest first: channel posts, and what could not be read. */
  ofNobody({ orgId }: Scope, stretch: Stretch, tx: Tx): Promise<ArchiveRow[]> {
    return newestFirst(orgId, isNull(chatMessages.userId), stretch, tx);
  }

  /** Messages by their ids, in no order. */
  withIds({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<ArchiveRow[]> {
    return tx
      .select(columns())
      .from(chatMessages)
      .leftJoin(users, isSpeaker(orgId))
      .where(
        and(eq(chatMessages.orgId, orgId), sql`${chatMessages.id} = any(${sqlArray(ids)}::uuid[])`),
      );
  }

  /** The ids of what was said in a message's conversation just before it or after it, the nearest first. */
  async beside(
    { orgId }: Scope,
    message: PlacedMessage,
    side: "before" | "after",
    { whose, limit }: { readonly whose: Whose; readonly limit: number },
    tx: Tx,
  ): Promise<string[]> {
    const at = sql`(${message.sentAt.toISOString()}::timestamptz, ${message.id}::uuid)`;
    const here = sql`(${chatMessages.sentAt}, ${chatMessages.id})`;
    const order = side === "before" ? desc : asc;
    const near = tx
      .select({
        orgId: chatMessages.orgId,
        ...{ id: chatMessages.id, userId: chatMessages.userId, sentAt: chatMessages.sentAt },
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.channel, message.channel),
          eq(chatMessages.account, message.account),
          eq(chatMessages.conversationId, message.conversationId),
          side === "before" ? sql`${here} < ${at}` : sql`${here} > ${at}`,
        ),
      )
      .orderBy(order(chatMessages.sentAt), order(chatMessages.id))
      .limit(LOOKED_THROUGH)
      .as("near");
    const rows = await tx
      .select({ id: near.id })
      .from(near)
      .where(and(eq(near.orgId, orgId), isOf(near.userId, whose)))
      .orderBy(order(near.sentAt), order(near.id))
      .limit(limit);
    return rows.map(({ id }) => id);
  }

  /** What these messages said before they were edited, the oldest first. */
  revisions({ orgId }: Scope, messageIds: readonly string[], tx: Tx) {
    return tx
      .select({
        messageId: chatMessageRevisions.messageId,
        revision: chatMessageRevisions.revision,
        text: sql<string | null>`left(${chatMessageRevisions.text}, ${SHOWN_CHARACTERS})`,
        replacedAt: chatMessageRevisions.replacedAt,
      })
      .from(chatMessageRevisions)
      .where(
        and(
          eq(chatMessageRevisions.orgId, orgId),
          inArray(chatMessageRevisions.messageId, [...messageIds]),
        ),
      )
      .orderBy(chatMessageRevisions.messageId, chatMessageRevisions.revision);
  }

  /** @returns the message that was erased, its revisions with it; undefined where it is gone */
  async delete({ orgId }: Scope, id: string, tx: Tx) {
    const { turnId, userId, direction, channel, account, platformMessageId } = chatMessages;
    const [row] = await tx
      .delete(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, id)))
      .returning({
        id: chatMessages.id,
        ...{ turnId, userId, direction, channel, account, platformMessageId },
      });
    return row;
  }
}

function newestFirst(orgId: string, whose: SQL, { from, before, limit }: Stretch, tx: Tx) {
  return tx
    .select(columns())
    .from(chatMessages)
    .leftJoin(users, isSpeaker(orgId))
    .where(
      and(
        eq(chatMessages.orgId, orgId),
        whose,
        from && gte(chatMessages.sentAt, from),
        isBefore(before),
      ),
    )
    .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
    .limit(limit);
}

function columns() {
  return {
    id: chatMessages.id,
    userId: chatMessages.userId,
    firstName: users.firstName,
    username: users.username,
    direction: chatMessages.direction,
    kind: chatMessages.kind,
    text: sql<string | null>`left(${chatMessages.text}, ${SHOWN_CHARACTERS})`,
    isClipped: sql<boolean>`coalesce(length(${chatMessages.text}) > ${SHOWN_CHARACTERS}, false)`,
    channel: chatMessages.channel,
    account: chatMessages.account,
    conversationId: chatMessages.conversationId,
    sentAt: chatMessages.sentAt,
    editedAt: chatMessages.editedAt,
    forwarded: chatMessages.forwarded,
    optedOut: chatMessages.optedOut,
    delivery: chatMessages.deliveryStatus,
  };
}

function isOf(userId: SQLWrapper, whose: Whose): SQL | undefined {
  if (whose === "all") return undefined;
  return whose === "people" ? isNotNull(userId) : eq(userId, whose.userId);
}

function isSpeaker(orgId: string): SQL | undefined {
  return and(eq(users.orgId, orgId), eq(users.id, chatMessages.userId));
}

function isBefore(point: HistoryPoint | undefined): SQL | undefined {
  if (!point) return undefined;
  if (point.id === undefined) return lt(chatMessages.sentAt, point.sentAt);
  return sql`(${chatMessages.sentAt}, ${chatMessages.id}) < (${point.sentAt.toISOString()}::timestamptz, ${point.id}::uuid)`;
}
