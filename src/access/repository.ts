import { and, asc, eq, isNull, lt, or, sql } from "drizzle-orm";
import { apiKeys } from "../db/schema/access.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export type ApiKey = typeof apiKeys.$inferSelect;
export type NewApiKey = Omit<typeof apiKeys.$inferInsert, "orgId" | "id">;

export class KeyRepository {
  /**
   * Needs a system transaction: the key says which org it is of. Bound to somebody who was linked to another person since,
   * it is bound to that one.
   */
  async findActive(hash: string, tx: Tx): Promise<ApiKey | undefined> {
    const [row] = await tx
      .select({ key: apiKeys, linkedInto: users.linkedInto })
      .from(apiKeys)
      .leftJoin(users, and(eq(users.orgId, apiKeys.orgId), eq(users.id, apiKeys.pinnedUserId)))
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)));
    return row && { ...row.key, pinnedUserId: row.linkedInto ?? row.key.pinnedUserId };
  }

  /** Needs a system transaction. Writes only when the last noted use is older than `staleBefore`. */
  async noteUse(id: string, at: Date, staleBefore: Date, tx: Tx): Promise<void> {
    await tx
      .update(apiKeys)
      .set({ lastUsedAt: at })
      .where(
        and(
          eq(apiKeys.id, id),
          or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, staleBefore)),
        ),
      );
  }

  /** @returns undefined when the key exists, revoked or another org's as it may be */
  async insert({ orgId }: Scope, key: NewApiKey, tx: Tx): Promise<ApiKey | undefined> {
    const [row] = await tx
      .insert(apiKeys)
      .values({ orgId, ...key })
      .onConflictDoNothing()
      .returning();
    return row;
  }

  /** Makes processes that start at once take turns until the transaction ends, so that they make one owner key. */
  async lockOwners({ orgId }: Scope, tx: Tx): Promise<void> {
    const name = JSON.stringify(["owner keys", orgId]);
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 2))`);
  }

  list({ orgId }: Scope, tx: Tx): Promise<ApiKey[]> {
    return tx
      .select()
      .from(apiKeys)
      .where(eq(apiKeys.orgId, orgId))
      .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id));
  }

  async hasActiveOwner({ orgId }: Scope, tx: Tx): Promise<boolean> {
    const rows = await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.orgId, orgId), eq(apiKeys.role, "owner"), isNull(apiKeys.revokedAt)))
      .limit(1);
    return rows.length > 0;
  }

  /** @returns undefined when the org has no such key */
  async revoke({ orgId }: Scope, id: string, at: Date, tx: Tx): Promise<ApiKey | undefined> {
    const [row] = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${at.toISOString()}::timestamptz)` })
      .where(and(eq(apiKeys.orgId, orgId), eq(apiKeys.id, id)))
      .returning();
    return row;
  }
}
