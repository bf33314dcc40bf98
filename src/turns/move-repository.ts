import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Move } from "../users/move.ts";

/** Moves turns to another person, and ends those of somebody nothing is learned from any more. */
export class TurnMoveRepository {
  /** A turn is of whoever began it. Two that are open in one conversation are one person's now: the moved one closes. */
  async move(
    { orgId, from, to, identityIds, everythingAs }: Move,
    at: Date,
    tx: Tx,
  ): Promise<void> {
    const began = sql`(select m.identity_id from chat_messages m
      where m.org_id = ${orgId} and m.turn_id = t.id and m.direction = 'inbound'
      order by m.sent_at, m.id limit 1)`;
    const goes =
      everythingAs === undefined
        ? sql`${began} = any(${sqlArray(identityIds)}::uuid[])`
        : sql`true`;
    await tx.execute(sql`
      update turns t set state = 'closed', closed_at = ${at.toISOString()}
      where t.org_id = ${orgId} and t.user_id = ${from} and t.state = 'open' and ${goes} and exists (
        select from turns o where o.org_id = ${orgId} and o.user_id = ${to} and o.state = 'open'
          and o.channel = t.channel and o.account = t.account and o.conversation_id = t.conversation_id)`);
    await tx.execute(sql`
      update turns t set user_id = ${to}
      where t.org_id = ${orgId} and t.user_id = ${from} and ${goes}`);
  }

  /** Nothing is learned from what a person's open turns hold. */
  async skipOpen(
    { orgId }: { readonly orgId: string },
    userId: string,
    { reason, at }: { readonly reason: string; readonly at: Date },
    tx: Tx,
  ): Promise<void> {
    await tx.execute(sql`
      update turns set state = 'skipped', reason = ${reason}, closed_at = ${at.toISOString()}
      where org_id = ${orgId} and user_id = ${userId} and state = 'open'`);
  }
}
