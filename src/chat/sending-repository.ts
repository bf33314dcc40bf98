import { and, asc, desc, eq, inArray, lt, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

interface Account {
  readonly channel: string;
  readonly account: string;
}

/** Messages that are sent from here. */
export class SendingRepository {
  /** Where a person's newest message on one of these accounts was said, if need be in this conversation, by this identity. */
  async lastPlace(
    { orgId }: Scope,
    person: { readonly userId: string; readonly identityId: string | null },
    accounts: readonly Account[],
    conversationId: string | undefined,
    tx: Tx,
  ) {
    const names = JSON.stringify(accounts.map(({ channel, account }) => [channel, account]));
    const [row] = await tx
      .select({
        channel: chatMessages.channel,
        account: chatMessages.account,
        identityId: chatMessages.identityId,
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.userId, person.userId),
          // What was sent from here proves nothing of the person.
          sql`${chatMessages.deliveryStatus} is null`,
          sql`(${chatMessages.channel}, ${chatMessages.account}) in (
            select one->>0, one->>1 from json_array_elements(${names}::json) one)`,
          person.identityId === null ? undefined : eq(chatMessages.identityId, person.identityId),
          conversationId === undefined
            ? eq(chatMessages.direction, "inbound")
            : eq(chatMessages.conversationId, conversationId),
        ),
      )
      .orderBy(desc(chatMessages.sentAt), desc(chatMessages.id))
      .limit(1);
    return row;
  }

  /** @returns false when the message was erased meanwhile */
  async setSent(
    { orgId }: Scope,
    id: string,
    sent: {
      readonly platformMessageId: string;
      readonly conversationId: string;
      readonly sentAt: Date;
      readonly turnId: string | null;
      readonly optedOut: boolean;
    },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .update(chatMessages)
      .set({ ...sent, deliveryStatus: "sent" })
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, id)))
      .returning({ id: chatMessages.id });
    return rows.length > 0;
  }

  async setFailed({ orgId }: Scope, id: string, payload: string, tx: Tx): Promise<void> {
    await tx
      .update(chatMessages)
      .set({ deliveryStatus: "failed", payload })
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, id)));
  }

  /** How far these came, in the order in which they were to be sent. */
  progress({ orgId }: Scope, ids: readonly string[], tx: Tx) {
    return tx
      .select({
        id: chatMessages.id,
        platformMessageId: chatMessages.platformMessageId,
        status: chatMessages.deliveryStatus,
        payload: chatMessages.payload,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), inArray(chatMessages.id, [...ids])))
      .orderBy(asc(chatMessages.id));
  }

  /** What began to be sent before a point and never ended; needs a system transaction. */
  unfinished(before: Date, limit: number, tx: Tx) {
    return tx
      .select({ id: chatMessages.id, orgId: chatMessages.orgId, payload: chatMessages.payload })
      .from(chatMessages)
      .where(and(eq(chatMessages.deliveryStatus, "sending"), lt(chatMessages.archivedAt, before)))
      .orderBy(asc(chatMessages.archivedAt))
      .limit(limit)
      .for("update", { skipLocked: true });
  }
}
