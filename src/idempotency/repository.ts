import { and, eq, lt } from "drizzle-orm";
import { idempotentCalls } from "../db/schema/access.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export class IdempotencyRepository {
  /**
   * Takes the call for this transaction; a concurrent call of the same hash waits here until it commits.
   *
   * @returns false when the call was made before
   */
  async claim(
    { orgId }: Scope,
    call: { callHash: string; bodyHash: string; createdAt: Date },
    tx: Tx,
  ): Promise<boolean> {
    const rows = await tx
      .insert(idempotentCalls)
      .values({ orgId, ...call })
      .onConflictDoNothing()
      .returning({ id: idempotentCalls.id });
    return rows.length > 0;
  }

  async find({ orgId }: Scope, callHash: string, tx: Tx) {
    const [row] = await tx
      .select({ bodyHash: idempotentCalls.bodyHash, answer: idempotentCalls.answer })
      .from(idempotentCalls)
      .where(and(eq(idempotentCalls.orgId, orgId), eq(idempotentCalls.callHash, callHash)));
    return row;
  }

  async answer({ orgId }: Scope, callHash: string, answer: string, tx: Tx): Promise<void> {
    await tx
      .update(idempotentCalls)
      .set({ answer })
      .where(and(eq(idempotentCalls.orgId, orgId), eq(idempotentCalls.callHash, callHash)));
  }

  async delete({ orgId }: Scope, callHash: string, tx: Tx): Promise<void> {
    await tx
      .delete(idempotentCalls)
      .where(and(eq(idempotentCalls.orgId, orgId), eq(idempotentCalls.callHash, callHash)));
  }

  /** Across all orgs: needs a system transaction. */
  async deleteBefore(before: Date, tx: Tx): Promise<number> {
    const rows = await tx
      .delete(idempotentCalls)
      .where(lt(idempotentCalls.createdAt, before))
      .returning({ id: idempotentCalls.id });
    return rows.length;
  }
}
