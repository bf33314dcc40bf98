import { and, desc, eq, inArray, isNull, lt, or, sql } from "drizzle-orm";
import { identityLinkMoves, identityLinks } from "../db/schema/links.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";

interface Scope {
  readonly orgId: string;
}

export type LinkRow = typeof identityLinks.$inferSelect;

/** The journal of links. Those that hold make a forest: each person was linked into at most one other. */
export class LinkRepository {
  async insert(
    { orgId }: Scope,
    link: Omit<LinkRow, "orgId" | "undoneAt" | "undoneBy">,
    identityIds: readonly string[],
    tx: Tx,
  ): Promise<void> {
    await tx.insert(identityLinks).values({ orgId, ...link });
    if (identityIds.length === 0) return;
    await tx
      .insert(identityLinkMoves)
      .values(identityIds.map((identityId) => ({ orgId, linkId: link.id, identityId })));
  }

  async find({ orgId }: Scope, linkId: string, tx: Tx): Promise<LinkRow | undefined> {
    const [row] = await tx
      .select()
      .from(identityLinks)
      .where(and(eq(identityLinks.orgId, orgId), eq(identityLinks.id, linkId)));
    return row;
  }

  /** @returns false where it was undone before */
  async markUndone(
    { orgId }: Scope,
    linkId: string,
    undone: { readonly at: Date; readonly by: string },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .update(identityLinks)
      .set({ undoneAt: undone.at, undoneBy: undone.by })
      .where(
        and(
          eq(identityLinks.orgId, orgId),
          eq(identityLinks.id, linkId),
          isNull(identityLinks.undoneAt),
        ),
      )
      .returning({ id: identityLinks.id });
    return rows.length > 0;
  }

  /** Newest first. */
  list(
    { orgId }: Scope,
    filter: {
      readonly of: readonly string[] | undefined;
      readonly before: string | undefined;
      readonly limit: number;
    },
    tx: Tx,
  ): Promise<LinkRow[]> {
    const { of, before, limit } = filter;
    return tx
      .select()
      .from(identityLinks)
      .where(
        and(
          eq(identityLinks.orgId, orgId),
          of &&
            or(
              inArray(identityLinks.fromUserId, [...of]),
              inArray(identityLinks.toUserId, [...of]),
            ),
          before === undefined ? undefined : lt(identityLinks.id, before),
        ),
      )
      .orderBy(desc(identityLinks.id))
      .limit(limit);
  }

  /** Everybody who is linked into a person by links that hold, over others too. */
  below(scope: Scope, userId: string, tx: Tx): Promise<string[]> {
    return this.#below(scope, userId, true, tx);
  }

  /** The same with links that were undone. */
  everBelow(scope: Scope, userId: string, tx: Tx): Promise<string[]> {
    return this.#below(scope, userId, false, tx);
  }

  async #below({ orgId }: Scope, userId: string, holding: boolean, tx: Tx): Promise<string[]> {
    const holds = holding ? sql`and l.undone_at is null` : sql``;
    const rows = await tx.execute<{ id: string }>(sql`
      with recursive below(id) as (
        select ${userId}::uuid
        union select l.from_user_id from below b join identity_links l on l.to_user_id = b.id
          where l.org_id = ${orgId} ${holds})
      select id from below where id <> ${userId}`);
    return rows.map(({ id }) => id);
  }

  /** Those of these identities that were these people's before any link, the oldest first. */
  async homeOf(
    { orgId }: Scope,
    userIds: readonly string[],
    identityIds: readonly string[],
    tx: Tx,
  ): Promise<string[]> {
    const rows = await tx.execute<{ id: string }>(sql`
      select i.id from channel_identities i
      where i.org_id = ${orgId} and i.id = any(${sqlArray(identityIds)}::uuid[]) and coalesce(
        (select l.from_user_id from identity_link_moves m
          join identity_links l on l.org_id = m.org_id and l.id = m.link_id
          where m.org_id = ${orgId} and m.identity_id = i.id order by l.at, l.id limit 1),
        i.user_id) = any(${sqlArray(userIds)}::uuid[])
      order by i.created_at, i.id`);
    return rows.map(({ id }) => id);
  }
}
