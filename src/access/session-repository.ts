import { and, eq, gt, isNull, lt, lte, or } from "drizzle-orm";
import { apiKeys, sessions } from "../db/schema/access.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

type ApiKey = typeof apiKeys.$inferSelect;
export type NewSession = Omit<typeof sessions.$inferInsert, "orgId" | "id">;

interface FoundSession {
  readonly sessionId: string;
  readonly lastUsedAt: Date;
  readonly key: ApiKey;
}

export class SessionRepository {
  async insert({ orgId }: Scope, session: NewSession, tx: Tx): Promise<void> {
    await tx.insert(sessions).values({ orgId, ...session });
  }

  /**
   * The key behind a session as it is now, unless the session is over or was not used after `idleSince`, or the key was
   * revoked. Needs a system transaction: the session says which org it is of.
   */
  async findKey(
    hash: string,
    { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
    tx: Tx,
  ): Promise<FoundSession | undefined> {
    const [row] = await tx
      .select({ key: apiKeys, linkedInto: users.linkedInto, session: sessions })
      .from(sessions)
      .innerJoin(apiKeys, and(eq(apiKeys.id, sessions.keyId), eq(apiKeys.orgId, sessions.orgId)))
      .leftJoin(users, and(eq(users.orgId, apiKeys.orgId), eq(users.id, apiKeys.pinnedUserId)))
      .where(
        and(
          eq(sessions.hash, hash),
          gt(sessions.expiresAt, now),
          or(gt(sessions.lastUsedAt, idleSince), gt(sessions.createdAt, idleSince)),
          isNull(apiKeys.revokedAt),
        ),
      );
    if (!row) return undefined;
    const { key, linkedInto, session } = row;
    return {
      sessionId: session.id,
      lastUsedAt: session.lastUsedAt ?? session.createdAt,
      key: { ...key, pinnedUserId: linkedInto ?? key.pinnedUserId },
    };
  }

  /** Writes only when the last noted use is older than `staleBefore`. */
  async noteUse(
    { orgId }: Scope,
    id: string,
    { at, staleBefore }: { readonly at: Date; readonly staleBefore: Date },
    tx: Tx,
  ): Promise<void> {
    await tx
      .update(sessions)
      .set({ lastUsedAt: at })
      .where(
        and(
          eq(sessions.orgId, orgId),
          eq(sessions.id, id),
          or(isNull(sessions.lastUsedAt), lt(sessions.lastUsedAt, staleBefore)),
        ),
      );
  }

  async delete({ orgId }: Scope, hash: string, tx: Tx): Promise<void> {
    await tx.delete(sessions).where(and(eq(sessions.orgId, orgId), eq(sessions.hash, hash)));
  }

  /** Those that are over, and those that were not used after `idleSince`. */
  async deleteEnded(now: Date, idleSince: Date, tx: Tx): Promise<number> {
    const rows = await tx
      .delete(sessions)
      .where(
        or(
          lte(sessions.expiresAt, now),
          and(
            lte(sessions.createdAt, idleSince),
            or(isNull(sessions.lastUsedAt), lte(sessions.lastUsedAt, idleSince)),
          ),
        ),
      )
      .returning({ id: sessions.id });
    return rows.length;
  }
}
