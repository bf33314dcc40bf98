import { and, eq, gt, isNull, lte } from "drizzle-orm";
import { apiKeys, sessions } from "../db/schema/access.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

type ApiKey = typeof apiKeys.$inferSelect;
export type NewSession = Omit<typeof sessions.$inferInsert, "orgId" | "id">;

export class SessionRepository {
  async insert({ orgId }: Scope, session: NewSession, tx: Tx): Promise<void> {
    await tx.insert(sessions).values({ orgId, ...session });
  }

  /**
   * The key behind a session as it is now, unless the session is over or the key was revoked. Needs a system transaction:
   * the session says which org it is of.
   */
  async findKey(hash: string, now: Date, tx: Tx): Promise<ApiKey | undefined> {
    const [row] = await tx
      .select({ key: apiKeys, linkedInto: users.linkedInto })
      .from(sessions)
      .innerJoin(apiKeys, and(eq(apiKeys.id, sessions.keyId), eq(apiKeys.orgId, sessions.orgId)))
      .leftJoin(users, and(eq(users.orgId, apiKeys.orgId), eq(users.id, apiKeys.pinnedUserId)))
      .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, now), isNull(apiKeys.revokedAt)));
    return row && { ...row.key, pinnedUserId: row.linkedInto ?? row.key.pinnedUserId };
  }

  async delete({ orgId }: Scope, hash: string, tx: Tx): Promise<void> {
    await tx.delete(sessions).where(and(eq(sessions.orgId, orgId), eq(sessions.hash, hash)));
  }

  async deleteExpired(now: Date, tx: Tx): Promise<number> {
    const rows = await tx
      .delete(sessions)
      .where(lte(sessions.expiresAt, now))
      .returning({ id: sessions.id });
    return rows.length;
  }
}
