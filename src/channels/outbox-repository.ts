import { and, eq, sql } from "drizzle-orm";
import { v7 } from "uuid";
import { forwardDeliveries, forwardQueues } from "../db/schema/forwarding.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export type DeliveryRow = typeof forwardDeliveries.$inferSelect;
export type NewDelivery = Pick<
  DeliveryRow,
  "userId" | "event" | "messageId" | "channel" | "account"
>;

/** A person whose next delivery somebody makes, until then. */
export interface Lease {
  readonly orgId: string;
  readonly userId: string;
  readonly until: Date;
}

/** What waits to be forwarded, and who makes the next delivery of a person. Every writer holds the queue's row first. */
export class OutboxRepository {
  /** Puts a delivery behind the person's last one. The row it holds makes positions follow the order of commits. */
  async append({ orgId }: Scope, delivery: NewDelivery, at: Date, tx: Tx): Promise<void> {
    const { userId, event, messageId, channel, account } = delivery;
    await tx.execute(sql`
      with queue as (
        insert into forward_queues (org_id, user_id, last_position, next_at)
        values (${orgId}, ${userId}, 1, ${at.toISOString()})
        on conflict (org_id, user_id) do update set last_position = forward_queues.last_position + 1
        returning last_position)
      insert into forward_deliveries
        (id, org_id, user_id, position, event, message_id, channel, account, created_at)
      select ${v7()}::uuid, ${orgId}::uuid, ${userId}::uuid, last_position, ${event}::text,
        ${messageId}::uuid, ${channel}::text, ${account}::text, ${at.toISOString()}::timestamptz
      from queue`);
  }

  /** Takes people whose next delivery is due, those who wait longest first, but of no busy org. Needs a system transaction. */
  async claim(
    limit: number,
    { now, until, busy = [] }: { now: Date; until: Date; busy?: readonly string[] },
    tx: Tx,
  ): Promise<Lease[]> {
    const ofOthers =
      busy.length === 0
        ? sql``
        : sql`and org_id not in (select json_array_elements_text(${JSON.stringify(busy)}::json)::uuid)`;
    // With the end of the lease as the next try, what is taken is not looked at again before.
    const rows = await tx.execute<{ org_id: string; user_id: string }>(sql`
      with due as materialized (
        select org_id, user_id from forward_queues where next_at <= ${now.toISOString()} ${ofOthers}
        order by next_at limit ${limit} for update skip locked)
      update forward_queues q
      set lease_until = ${until.toISOString()}, next_at = ${until.toISOString()}
      from due where q.org_id = due.org_id and q.user_id = due.user_id
      returning q.org_id, q.user_id`);
    return rows.map(({ org_id: orgId, user_id: userId }) => ({ orgId, userId, until }));
  }

  /** The org whose turn is next, and when. Needs a system transaction. */
  async next(tx: Tx): Promise<{ orgId: string; at: Date } | undefined> {
    const [row] = await tx
      .select({ orgId: forwardQueues.orgId, at: forwardQueues.nextAt })
      .from(forwardQueues)
      .orderBy(forwardQueues.nextAt)
      .limit(1);
    return row;
  }

  /** A person's next delivery. */
  async head({ orgId }: Scope, userId: string, tx: Tx): Promise<DeliveryRow | undefined> {
    const [row] = await tx
      .select()
      .from(forwardDeliveries)
      .where(
        and(
          eq(forwardDeliveries.orgId, orgId),
          eq(forwardDeliveries.userId, userId),
          eq(forwardDeliveries.state, "pending"),
        ),
      )
      .orderBy(forwardDeliveries.position, forwardDeliveries.id)
      .limit(1);
    return row;
  }

  /** Holds the queue until the transaction ends. @returns false when somebody else has it, or nothing waits any more */
  async hold({ orgId, userId, until }: Lease, tx: Tx): Promise<boolean> {
    const held = await tx.execute(sql`
      select 1 from forward_queues
      where org_id = ${orgId} and user_id = ${userId} and lease_until = ${until.toISOString()}
      for update`);
    return held.length > 0;
  }

  async remove({ orgId }: Scope, id: string, tx: Tx): Promise<void> {
    await tx
      .delete(forwardDeliveries)
      .where(
        and(
          eq(forwardDeliveries.orgId, orgId),
          eq(forwardDeliveries.id, id),
          eq(forwardDeliveries.state, "pending"),
        ),
      );
  }

  /** Notes a failed attempt; with a date the delivery is dead since. */
  async fail(
    { orgId }: Scope,
    id: string,
    failure: { reason: string; diedAt: Date | null },
    tx: Tx,
  ): Promise<void> {
    const { reason, diedAt } = failure;
    await tx
      .update(forwardDeliveries)
      .set({
        attempts: sql`${forwardDeliveries.attempts} + 1`,
        lastError: reason,
        ...(diedAt && { state: "dead", diedAt }),
      })
      .where(and(eq(forwardDeliveries.orgId, orgId), eq(forwardDeliveries.id, id)));
  }

  /** Ends a held queue where nothing waits. @returns whether it did */
  async end({ orgId }: Scope, userId: string, tx: Tx): Promise<boolean> {
    const ended = await tx.execute(sql`
      delete from forward_queues
      where org_id = ${orgId} and user_id = ${userId} and not exists (
        select from forward_deliveries
        where org_id = ${orgId} and user_id = ${userId} and state = 'pending')
      returning 1`);
    return ended.length > 0;
  }

  /** Gives a held queue back for `nextAt`. */
  async release({ orgId }: Scope, userId: string, nextAt: Date, tx: Tx): Promise<void> {
    await tx
      .update(forwardQueues)
      .set({ nextAt, leaseUntil: null })
      .where(and(eq(forwardQueues.orgId, orgId), eq(forwardQueues.userId, userId)));
  }

  /** Holds the queues of these people until the transaction ends, in one order for all. */
  async lock({ orgId }: Scope, userIds: readonly string[], tx: Tx): Promise<void> {
    await tx.execute(sql`
      select 1 from forward_queues
      where org_id = ${orgId}
        and user_id in (select json_array_elements_text(${JSON.stringify(userIds)}::json)::uuid)
      order by user_id for update`);
  }

  /** Everything that waits of a person. */
  async drop({ orgId }: Scope, userId: string, tx: Tx): Promise<void> {
    await tx.execute(sql`
      delete from forward_deliveries
      where org_id = ${orgId} and user_id = ${userId} and state = 'pending'`);
    await tx.execute(sql`
      delete from forward_queues where org_id = ${orgId} and user_id = ${userId}`);
  }

  /**
   * Puts one person's deliveries behind another's last one, in their order. With identities only those of messages that
   * came by them: the archive knows that, also after its rows moved.
   */
  async move(
    { orgId }: Scope,
    { from, to, identityIds }: { from: string; to: string; identityIds?: readonly string[] },
    now: Date,
    tx: Tx,
  ): Promise<void> {
    const theirs =
      identityIds === undefined
        ? sql``
        : sql`and message_id in (
            select id from chat_messages
            where org_id = ${orgId} and identity_id in (
              select json_array_elements_text(${JSON.stringify(identityIds)}::json)::uuid))`;
    await tx.execute(sql`
      with moved as materialized (
        select id, state, row_number() over (order by position, id) as place
        from forward_deliveries
        where org_id = ${orgId} and user_id = ${from} ${theirs}),
      room as (
        insert into forward_queues (org_id, user_id, last_position, next_at)
        select ${orgId}::uuid, ${to}::uuid, max(place), ${now.toISOString()}::timestamptz
        from moved having bool_or(state = 'pending')
        on conflict (org_id, user_id)
        do update set last_position = forward_queues.last_position + excluded.last_position
        returning last_position),
      base as (
        select coalesce((select last_position from room), 0) - count(*) as position from moved)
      update forward_deliveries d
      set user_id = ${to}::uuid, position = base.position + moved.place
      from moved, base where d.org_id = ${orgId} and d.id = moved.id`);
  }
}
