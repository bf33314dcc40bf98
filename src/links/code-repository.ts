import { and, eq, gt, isNull, lte, sql } from "drizzle-orm";
import { linkCodes } from "../db/schema/links.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export interface OpenCode {
  readonly id: string;
  readonly userId: string;
  readonly createdBy: string;
}

export class CodeRepository {
  async insert(
    { orgId }: Scope,
    code: Omit<typeof linkCodes.$inferInsert, "orgId" | "id">,
    tx: Tx,
  ): Promise<void> {
    await tx.insert(linkCodes).values({ orgId, ...code });
  }

  async countOpen({ orgId }: Scope, userId: string, now: Date, tx: Tx): Promise<number> {
    const [row] = await tx
      .select({ count: sql<number>`count(*)::int` })
      .from(linkCodes)
      .where(
        and(
          eq(linkCodes.orgId, orgId),
          eq(linkCodes.userId, userId),
          isNull(linkCodes.usedAt),
          gt(linkCodes.expiresAt, now),
        ),
      );
    return row?.count ?? 0;
  }

  async findOpen({ orgId }: Scope, hash: string, now: Date, tx: Tx): Promise<OpenCode | undefined> {
    const [row] = await tx
      .select({ id: linkCodes.id, userId: linkCodes.userId, createdBy: linkCodes.createdBy })
      .from(linkCodes)
      .where(
        and(
          eq(linkCodes.orgId, orgId),
          eq(linkCodes.hash, hash),
          isNull(linkCodes.usedAt),
          gt(linkCodes.expiresAt, now),
        ),
      );
    return row;
  }

  /** @returns false where somebody else was faster */
  async use({ orgId }: Scope, id: string, at: Date, tx: Tx): Promise<boolean> {
    const rows = await tx
      .update(linkCodes)
      .set({ usedAt: at })
      .where(and(eq(linkCodes.orgId, orgId), eq(linkCodes.id, id), isNull(linkCodes.usedAt)))
      .returning({ id: linkCodes.id });
    return rows.length > 0;
  }

  /** Over all orgs: needs a system transaction. */
  async deleteExpired(before: Date, tx: Tx): Promise<number> {
    const rows = await tx
      .delete(linkCodes)
      .where(lte(linkCodes.expiresAt, before))
      .returning({ id: linkCodes.id });
    return rows.length;
  }
}
