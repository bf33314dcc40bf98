import { and, asc, eq, isNotNull, or, sql } from "drizzle-orm";
import { factDecisions, factTables, memoryEvents } from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactScope, ownerOf, type Slot } from "./row.ts";

/** What one scope holds as a whole, whatever its agents and keys. */
export class FactScopeRepository {
  /** Some of its keys, always in the same order. */
  slots(scope: FactScope, limit: number, tx: Tx): Promise<Slot[]> {
    const { table, owner } = factTables[scope.name];
    return tx
      .selectDistinct({ agentId: table.agentId, key: table.key })
      .from(table)
      .where(and(eq(table.orgId, scope.orgId), eq(owner, ownerOf(scope))))
      .orderBy(asc(table.agentId), asc(table.key))
      .limit(limit);
  }

  /** The rows of keys, live or not. */
  rows(
    scope: FactScope,
    slots: readonly Slot[],
    tx: Tx,
  ): Promise<{ id: string; agentId: string }[]> {
    const { table, owner } = factTables[scope.name];
    return tx
      .select({ id: table.id, agentId: table.agentId })
      .from(table)
      .where(
        and(
          eq(table.orgId, scope.orgId),
          eq(owner, ownerOf(scope)),
          sql`(${table.agentId}, ${table.key}) in (select slot."agentId", slot.key
            from json_to_recordset(${JSON.stringify(slots)}::json) as slot("agentId" text, key text))`,
        ),
      );
  }

  /** What people decided about its keys. @returns how much */
  async deleteDecisions(scope: FactScope, tx: Tx): Promise<number> {
    const owner = {
      org: undefined,
      store: eq(factDecisions.storeId, ownerOf(scope)),
      user: eq(factDecisions.userId, ownerOf(scope)),
    }[scope.name];
    const rows = await tx
      .delete(factDecisions)
      .where(and(eq(factDecisions.orgId, scope.orgId), eq(factDecisions.scope, scope.name), owner))
      .returning({ id: factDecisions.id });
    return rows.length;
  }

  /** Takes the contents out of what happened in a scope, a batch at a time; that it happened stays. @returns how many */
  async clearEvents(scope: FactScope, limit: number, tx: Tx): Promise<number> {
    const owner = {
      org: undefined,
      store: eq(memoryEvents.storeId, ownerOf(scope)),
      user: eq(memoryEvents.userId, ownerOf(scope)),
    }[scope.name];
    const some = tx
      .select({ id: memoryEvents.id })
      .from(memoryEvents)
      .where(
        and(
          eq(memoryEvents.orgId, scope.orgId),
          eq(memoryEvents.scope, scope.name),
          owner,
          or(
            isNotNull(memoryEvents.oldValue),
            isNotNull(memoryEvents.newValue),
            isNotNull(memoryEvents.reason),
          ),
        ),
      )
      .limit(limit);
    const rows = await tx
      .update(memoryEvents)
      .set({ oldValue: null, newValue: null, reason: null })
      .where(
        and(eq(memoryEvents.orgId, scope.orgId), sql`${memoryEvents.id} = any(array(${some}))`),
      )
      .returning({ id: memoryEvents.id });
    return rows.length;
  }

  /** Events that still tell the contents of facts that are gone, whoever was faster. @returns how many there were */
  async clearOrphanedEvents({ orgId }: { readonly orgId: string }, tx: Tx): Promise<number> {
    const gone = (name: FactScope["name"]) => {
      const { table } = factTables[name];
      return sql`not exists (select from ${table} f where f.org_id = ${orgId} and f.id = e.fact_id)`;
    };
    const rows = await tx.execute(sql`
      update memory_events e set old_value = null, new_value = null, reason = null
      where e.org_id = ${orgId} and (e.old_value is not null or e.new_value is not null)
        and ${gone("org")} and ${gone("store")} and ${gone("user")}
      returning 1`);
    return rows.length;
  }
}
