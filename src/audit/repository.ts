import { and, desc, eq, lt } from "drizzle-orm";
import { auditEvents } from "../db/schema/audit.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export type AuditRow = typeof auditEvents.$inferSelect;

export class AuditRepository {
  async insert(
    { orgId }: Scope,
    event: Omit<typeof auditEvents.$inferInsert, "orgId" | "id">,
    tx: Tx,
  ): Promise<void> {
    await tx.insert(auditEvents).values({ orgId, ...event });
  }

  /** Newest first: ids are in the order of their making. */
  list(
    { orgId }: Scope,
    filter: {
      readonly subjectKind?: string | undefined;
      readonly subjectId?: string | undefined;
      readonly before?: string | undefined;
      readonly limit: number;
    },
    tx: Tx,
  ): Promise<AuditRow[]> {
    const { subjectKind, subjectId, before, limit } = filter;
    return tx
      .select()
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.orgId, orgId),
          subjectKind === undefined ? undefined : eq(auditEvents.subjectKind, subjectKind),
          subjectId === undefined ? undefined : eq(auditEvents.subjectId, subjectId),
          before === undefined ? undefined : lt(auditEvents.id, before),
        ),
      )
      .orderBy(desc(auditEvents.id))
      .limit(limit);
  }
}
