import { and, desc, eq, inArray, sql } from "drizzle-orm";
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

  /** The last of these that was done to somebody or something. */
  async last(
    { orgId }: Scope,
    wanted: {
      readonly subjectKind: string;
      readonly subjectId: string;
      readonly actions: readonly string[];
    },
    tx: Tx,
  ): Promise<AuditRow | undefined> {
    const { subjectKind, subjectId, actions } = wanted;
    const [row] = await tx
      .select()
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.orgId, orgId),
          eq(auditEvents.subjectKind, subjectKind),
          eq(auditEvents.subjectId, subjectId),
          inArray(auditEvents.action, [...actions]),
        ),
      )
      .orderBy(desc(auditEvents.at), desc(auditEvents.id))
      .limit(1);
    return row;
  }

  /** Newest first, by the index of an org's time: other orgs' events may be many. */
  list(
    { orgId }: Scope,
    filter: {
      readonly subjectKind?: string | undefined;
      readonly subjectId?: string | undefined;
      readonly actor?: string | undefined;
      readonly action?: string | undefined;
      readonly before?: string | undefined;
      readonly limit: number;
    },
    tx: Tx,
  ): Promise<AuditRow[]> {
    const { subjectKind, subjectId, actor, action, before, limit } = filter;
    return tx
      .select()
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.orgId, orgId),
          subjectKind === undefined ? undefined : eq(auditEvents.subjectKind, subjectKind),
          subjectId === undefined ? undefined : eq(auditEvents.subjectId, subjectId),
          actor === undefined ? undefined : eq(auditEvents.actor, actor),
          action === undefined ? undefined : eq(auditEvents.action, action),
          before === undefined
            ? undefined
            : sql`(${auditEvents.at}, ${auditEvents.id}) < (
                select at, id from audit_events where org_id = ${orgId} and id = ${before})`,
        ),
      )
      .orderBy(desc(auditEvents.at), desc(auditEvents.id))
      .limit(limit);
  }
}
