import { and, desc, eq, lt, sql } from "drizzle-orm";
import { forwardDeliveries } from "../db/schema/forwarding.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

type DeliveryRow = typeof forwardDeliveries.$inferSelect;

/** Deliveries as people look at them: what waits, what was given up. */
export class DeliveryRepository {
  /** Newest first. */
  list(
    { orgId }: Scope,
    filter: { state: DeliveryRow["state"]; before: string | undefined; limit: number },
    tx: Tx,
  ): Promise<DeliveryRow[]> {
    const { state, before, limit } = filter;
    return tx
      .select()
      .from(forwardDeliveries)
      .where(
        and(
          eq(forwardDeliveries.orgId, orgId),
          eq(forwardDeliveries.state, state),
          before === undefined ? undefined : lt(forwardDeliveries.id, before),
        ),
      )
      .orderBy(desc(forwardDeliveries.id))
      .limit(limit);
  }

  async find({ orgId }: Scope, id: string, tx: Tx): Promise<DeliveryRow | undefined> {
    const [row] = await tx
      .select()
      .from(forwardDeliveries)
      .where(and(eq(forwardDeliveries.orgId, orgId), eq(forwardDeliveries.id, id)));
    return row;
  }

  /** The newest dead ones. */
  async dead({ orgId }: Scope, limit: number, tx: Tx) {
    return tx
      .select({ id: forwardDeliveries.id, userId: forwardDeliveries.userId })
      .from(forwardDeliveries)
      .where(and(eq(forwardDeliveries.orgId, orgId), eq(forwardDeliveries.state, "dead")))
      .orderBy(desc(forwardDeliveries.id))
      .limit(limit);
  }

  /**
   * Puts dead deliveries of these people in front of what waits of each, in the order they were made.
   *
   * @returns how many there were
   */
  async replay(
    { orgId }: Scope,
    { ids, userIds }: { ids: readonly string[]; userIds: readonly string[] },
    now: Date,
    tx: Tx,
  ): Promise<number> {
    const at = now.toISOString();
    // First the queues, as every writer does. One that is being worked on keeps its time.
    await tx.execute(sql`
      insert into forward_queues (org_id, user_id, last_position, next_at)
      select ${orgId}::uuid, value::uuid, 0, ${at}::timestamptz
      from json_array_elements_text(${JSON.stringify(userIds.toSorted())}::json)
      on conflict (org_id, user_id) do update set next_at =
        case when forward_queues.lease_until > ${at} then forward_queues.next_at else ${at}::timestamptz end
        where forward_queues.org_id = ${orgId}`);
    const rows = await tx.execute(sql`
      with dead as materialized (
        select id, user_id, row_number() over (partition by user_id order by id desc) as place
        from forward_deliveries
        where org_id = ${orgId} and state = 'dead'
          and id in (select json_array_elements_text(${JSON.stringify(ids)}::json)::uuid)),
      front as materialized (
        select u.user_id, (
          select min(position) from forward_deliveries p
          where p.org_id = ${orgId} and p.user_id = u.user_id and p.state = 'pending') as position
        from (select distinct user_id from dead) u)
      update forward_deliveries d
      set state = 'pending', attempts = 0, tried_since = ${at}, died_at = null,
        position = coalesce(front.position, 1) - dead.place
      from dead join front using (user_id)
      where d.org_id = ${orgId} and d.id = dead.id
      returning 1`);
    return rows.length;
  }

  /** Of all orgs: needs a system transaction. */
  async oldestWaiting(tx: Tx): Promise<Date | null> {
    const [row] = await tx.execute<{ at: string | null }>(sql`
      select min(created_at) as at from forward_deliveries where state = 'pending'`);
    return row?.at ? new Date(row.at) : null;
  }

  /** Of all orgs, in batches: needs a system transaction. */
  async deleteDead(before: Date, limit: number, tx: Tx): Promise<number> {
    const rows = await tx.execute(sql`
      delete from forward_deliveries where id in (
        select id from forward_deliveries where state = 'dead' and died_at < ${before.toISOString()}
        limit ${limit})
      returning 1`);
    return rows.length;
  }
}
