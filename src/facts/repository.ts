import { and, asc, desc, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import {
  type FactTable,
  factRowOf,
  factTables,
  memoryEvents,
  userFacts,
} from "../db/schema/facts.ts";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { FactEvent, FactEventKind } from "./event.ts";
import { FACT_SCOPES, type FactScopeName } from "./fact.ts";
import {
  type FactScope,
  ownerOf,
  type PlacedRow,
  placedRow,
  readRow,
  type Slot,
  type StoredFact,
} from "./row.ts";

interface Org {
  readonly orgId: string;
}

export interface NewFact extends StoredFact {
  /** Of user facts: the channel identity that the claim came by. */
  readonly identityId: string | null;
}

const EVENTS = 200;
/** A statement takes 65,535 parameters, and an event has 13 columns. */
const EVENTS_PER_INSERT = 1000;

export class FactRepository {
  /** @returns undefined when this scope, agent, key and source have a row already */
  async insert(scope: FactScope, fact: NewFact, tx: Tx): Promise<StoredFact | undefined> {
    const { table } = factTables[scope.name];
    const [row] = await tx
      .insert(table)
      .values({ orgId: scope.orgId, ...factColumns(scope, fact) })
      .onConflictDoNothing()
      .returning(factRowOf(table));
    return row && readRow(row);
  }

  /** Rows of keys that have none yet. */
  async insertAll(scope: FactScope, facts: readonly NewFact[], tx: Tx): Promise<void> {
    const { table } = factTables[scope.name];
    await tx
      .insert(table)
      .values(facts.map((fact) => ({ orgId: scope.orgId, ...factColumns(scope, fact) })));
  }

  async findBySource(
    scope: FactScope,
    slot: Slot & { sourceMessageId: string },
    tx: Tx,
  ): Promise<StoredFact | undefined> {
    const { table } = factTables[scope.name];
    const [row] = await tx
      .select(factRowOf(table))
      .from(table)
      .where(
        and(
          eq(table.orgId, scope.orgId),
          ofSlot(scope, slot),
          eq(table.sourceMessageId, slot.sourceMessageId),
        ),
      );
    return row && readRow(row);
  }

  /** The values of these facts that are still there, in the order of `ids`. */
  async values({ orgId }: Org, name: FactScopeName, ids: readonly string[], tx: Tx) {
    if (ids.length === 0) return [];
    const { table } = factTables[name];
    const rows = await tx
      .select({ id: table.id, value: table.value })
      .from(table)
      .where(and(eq(table.orgId, orgId), among(table.id, ids)))
      .orderBy(asc(table.id));
    return rows
      .map(({ id, value }) => ({ factId: id, value: JSON.parse(value) as unknown }))
      .sort((a, b) => ids.indexOf(a.factId) - ids.indexOf(b.factId));
  }

  async find({ orgId }: Org, id: string, tx: Tx): Promise<PlacedRow | undefined> {
    for (const name of FACT_SCOPES) {
      const { table, owner } = factTables[name];
      const [found] = await tx
        .select({ ...factRowOf(table), ownerId: owner })
        .from(table)
        .where(and(eq(table.orgId, orgId), eq(table.id, id)));
      if (found) return placedRow(name, orgId, found);
    }
    return undefined;
  }

  /** The channel identity that a person's fact came by. */
  async identityOf({ orgId }: Org, factId: string, tx: Tx): Promise<string | null> {
    const [row] = await tx
      .select({ identityId: userFacts.identityId })
      .from(userFacts)
      .where(and(eq(userFacts.orgId, orgId), eq(userFacts.id, factId)));
    return row?.identityId ?? null;
  }

  /** Rows that came from these messages or from any edit of them (`<id>#<revision>`). */
  async findByMessages(
    { orgId }: Org,
    messageIds: readonly string[],
    tx: Tx,
  ): Promise<PlacedRow[]> {
    if (messageIds.length === 0) return [];
    const found: PlacedRow[] = [];
    for (const name of FACT_SCOPES) {
      const { table, owner } = factTables[name];
      const rows = await tx
        .select({ ...factRowOf(table), ownerId: owner })
        .from(table)
        .where(and(eq(table.orgId, orgId), fromMessages(table, messageIds)))
        .orderBy(asc(table.id));
      found.push(...rows.map((row) => placedRow(name, orgId, row)));
    }
    return found;
  }

  /** From now on these rows count no more, because their source says something else. */
  async withdraw({ orgId, name }: FactScope, ids: readonly string[], at: Date, tx: Tx) {
    const { table } = factTables[name];
    await tx
      .update(table)
      .set({ withdrawnAt: at, consolidatedAt: null })
      .where(and(eq(table.orgId, orgId), among(table.id, ids), isNull(table.withdrawnAt)));
  }

  async delete({ orgId, name }: FactScope, ids: readonly string[], tx: Tx): Promise<void> {
    const { table } = factTables[name];
    await tx.delete(table).where(and(eq(table.orgId, orgId), among(table.id, ids)));
  }

  async addEvents(scope: FactScope, events: readonly FactEvent[], tx: Tx): Promise<void> {
    for (let at = 0; at < events.length; at += EVENTS_PER_INSERT) {
      const some = events.slice(at, at + EVENTS_PER_INSERT);
      await tx
        .insert(memoryEvents)
        .values(some.map((event) => ({ orgId: scope.orgId, ...eventColumns(scope, event) })));
    }
  }

  /** The newest events of a fact, oldest first. */
  async events({ orgId }: Org, factIds: readonly string[], tx: Tx): Promise<FactEvent[]> {
    const rows = await tx
      .select()
      .from(memoryEvents)
      .where(and(eq(memoryEvents.orgId, orgId), among(memoryEvents.factId, factIds)))
      .orderBy(desc(memoryEvents.at), desc(memoryEvents.id))
      .limit(EVENTS);
    return rows.reverse().map((row) => ({
      kind: row.kind as FactEventKind,
      factId: row.factId,
      actor: row.actor,
      agentId: row.agentId,
      reason: row.reason,
      ...(row.oldValue !== null && { oldValue: JSON.parse(row.oldValue) as unknown }),
      ...(row.newValue !== null && { newValue: JSON.parse(row.newValue) as unknown }),
      at: row.at,
    }));
  }

  /** Leaves of these facts' events only that they happened. */
  async scrubEvents({ orgId }: Org, factIds: readonly string[], tx: Tx): Promise<void> {
    await tx
      .update(memoryEvents)
      .set({ oldValue: null, newValue: null, reason: null })
      .where(and(eq(memoryEvents.orgId, orgId), among(memoryEvents.factId, factIds)));
  }

  /** The values that events of these facts mention as the one they spoke against. */
  async oldValues({ orgId }: Org, factIds: readonly string[], tx: Tx) {
    const rows = await tx
      .select({ id: memoryEvents.id, oldValue: memoryEvents.oldValue })
      .from(memoryEvents)
      .where(
        and(
          eq(memoryEvents.orgId, orgId),
          among(memoryEvents.factId, factIds),
          isNotNull(memoryEvents.oldValue),
        ),
      );
    return rows.map(({ id, oldValue }) => ({
      id,
      value: JSON.parse(oldValue ?? "null") as unknown,
    }));
  }

  async scrubOldValues({ orgId }: Org, eventIds: readonly string[], tx: Tx): Promise<void> {
    await tx
      .update(memoryEvents)
      .set({ oldValue: null })
      .where(and(eq(memoryEvents.orgId, orgId), among(memoryEvents.id, eventIds)));
  }
}

function factColumns(scope: FactScope, { identityId, state, ...columns }: NewFact) {
  return {
    ...columns,
    ...state,
    claimTags: state.claimTags && [...state.claimTags],
    tags: [...columns.tags],
    value: JSON.stringify(columns.value),
    ...ownerColumns(scope, identityId),
  };
}

function ownerColumns(scope: FactScope, identityId: string | null) {
  switch (scope.name) {
    case "org":
      return {};
    case "store":
      return { storeId: scope.storeId };
    case "user":
      return { userId: scope.userId, identityId };
  }
}

function eventColumns(scope: FactScope, { oldValue, newValue, ...event }: FactEvent) {
  return {
    ...event,
    scope: scope.name,
    storeId: scope.name === "store" ? scope.storeId : null,
    userId: scope.name === "user" ? scope.userId : null,
    oldValue: oldValue === undefined ? null : JSON.stringify(oldValue),
    newValue: newValue === undefined ? null : JSON.stringify(newValue),
  };
}

/** One parameter however many ids: a key may have more rows than a statement has parameters. */
function among(column: PgColumn, ids: readonly string[]): SQL {
  return sql`${column} = any(${sqlArray(ids)}::uuid[])`;
}

function ofSlot(scope: FactScope, { agentId, key }: Slot): SQL | undefined {
  const { table, owner } = factTables[scope.name];
  return and(eq(owner, ownerOf(scope)), eq(table.agentId, agentId), eq(table.key, key));
}

/** `<id>` and, as a range of the index, everything between `<id>#` and the next character. */
function fromMessages(table: FactTable, ids: readonly string[]): SQL {
  const source = table.sourceMessageId;
  const any = ids.map(
    (id) => sql`${source} = ${id} or (${source} >= ${`${id}#`} and ${source} < ${`${id}$`})`,
  );
  return sql`(${sql.join(any, sql` or `)})`;
}
