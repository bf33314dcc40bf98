import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { channelIdentities, users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

/** Which identities belong to whom, for linking people. */
export class IdentityRepository {
  /** People by id, linked or not, the oldest first. */
  people({ orgId }: Scope, ids: readonly string[], tx: Tx) {
    return tx
      .select({
        id: users.id,
        status: users.status,
        role: users.role,
        createdAt: users.createdAt,
        linkedInto: users.linkedInto,
      })
      .from(users)
      .where(and(eq(users.orgId, orgId), inArray(users.id, [...ids])))
      .orderBy(asc(users.createdAt), asc(users.id));
  }

  /** The people who were linked into one of these. */
  async linkedInto({ orgId }: Scope, ids: readonly string[], tx: Tx): Promise<string[]> {
    const rows = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.orgId, orgId), inArray(users.linkedInto, [...ids])))
      .orderBy(asc(users.id));
    return rows.map(({ id }) => id);
  }

  /** The identities of people, the oldest first. */
  of({ orgId }: Scope, userIds: readonly string[], tx: Tx) {
    return tx
      .select({
        id: channelIdentities.id,
        userId: channelIdentities.userId,
        channel: channelIdentities.channel,
        externalId: channelIdentities.externalId,
      })
      .from(channelIdentities)
      .where(
        and(eq(channelIdentities.orgId, orgId), inArray(channelIdentities.userId, [...userIds])),
      )
      .orderBy(asc(channelIdentities.createdAt), asc(channelIdentities.id));
  }

  async move({ orgId }: Scope, identityIds: readonly string[], to: string, tx: Tx): Promise<void> {
    await tx
      .update(channelIdentities)
      .set({ userId: to })
      .where(
        and(eq(channelIdentities.orgId, orgId), inArray(channelIdentities.id, [...identityIds])),
      );
  }

  /** From now on the ids of these people mean another one, or themselves again (null). */
  async point({ orgId }: Scope, ids: readonly string[], to: string | null, tx: Tx): Promise<void> {
    await tx
      .update(users)
      .set({ linkedInto: to })
      .where(
        and(
          eq(users.orgId, orgId),
          inArray(users.id, [...ids]),
          sql`${users.linkedInto} is distinct from ${to}::uuid`,
        ),
      );
  }
}
