import { and, desc, eq, ne, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Move } from "../users/move.ts";

/** Messages a statement, some tenths of a second: none may take longer than a connection waits for its answer. */
const BATCH = 1_000;

/** Moves messages to another person. */
export class ChatMoveRepository {
  /** What is searched has to be indexed under its new person: that is noted, for whoever indexes. @returns how many went */
  async move({ orgId, from, to, identityIds, everythingAs }: Move, tx: Tx): Promise<number> {
    const goes =
      everythingAs === undefined
        ? sql`and identity_id = any(${sqlArray(identityIds)}::uuid[])`
        : sql``;
    let moved: number;
    let all = 0;
    do {
      const rows = await tx.execute(sql`
        update chat_messages m set user_id = ${to}, search_due = search_due or coalesce(text <> '' and not opted_out, false),
          identity_id = coalesce(identity_id, ${everythingAs ?? null}::uuid)
        where m.org_id = ${orgId} and m.id = any(array(
          select id from chat_messages where org_id = ${orgId} and user_id = ${from} ${goes} limit ${BATCH}))
        returning 1`);
      moved = rows.length;
      all += moved;
    } while (moved === BATCH);
    return all;
  }

  /** Takes messages out of turns that are another one's of these two people: each is learned from for one person alone. */
  async leaveForeignTurns({ orgId, from, to }: Move, tx: Tx): Promise<void> {
    await tx.execute(sql`
      update chat_messages m set turn_id = null from turns t
      where m.org_id = ${orgId} and t.org_id = ${orgId} and m.turn_id = t.id
        and (m.user_id = ${from} and t.user_id = ${to} or m.user_id = ${to} and t.user_id = ${from})`);
  }

  /** Where a person's last message through a channel account was: one of a turn, as imported ones never are, if there is one. */
  async lastPlace({ orgId }: { readonly orgId: string }, userId: string, tx: Tx) {
    const [row] = await tx
      .select({ channel: chatMessages.channel, account: chatMessages.account })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          eq(chatMessages.userId, userId),
          ne(chatMessages.account, ""),
        ),
      )
      .orderBy(
        sql`${chatMessages.turnId} is null`,
        desc(chatMessages.sentAt),
        desc(chatMessages.id),
      )
      .limit(1);
    return row;
  }

  /** How many messages of a person that came since a point in time, whatever date they bear, look like a one-time code. */
  async countLike(
    { orgId }: { readonly orgId: string },
    userId: string,
    { pattern, since }: { readonly pattern: string; readonly since: Date },
    tx: Tx,
  ): Promise<number> {
    const [row] = await tx.execute<{ count: number }>(sql`
      select count(*)::int as count from chat_messages
      where org_id = ${orgId} and user_id = ${userId} and archived_at >= ${since.toISOString()}
        and direction = 'inbound' and length(text) <= 40 and text ~* ${pattern}`);
    return row?.count ?? 0;
  }
}
