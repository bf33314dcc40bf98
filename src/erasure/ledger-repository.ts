import { and, asc, desc, eq, gt, inArray, lt, notInArray, sql } from "drizzle-orm";
import { erasures } from "../db/schema/erasure.ts";
import type { Tx } from "../db/tenant.ts";
import { EMPTY_REPORT, type Erasure, type Report, type Work } from "./erasure.ts";

interface Scope {
  readonly orgId: string;
}

/** An entry with what its work goes on with. */
export interface Entry extends Erasure {
  readonly orgId: string;
  readonly work: Work;
}

/** Whatever may change of an entry. */
export interface EntryChanges {
  readonly state?: Entry["state"];
  readonly erasedAt?: Date;
  readonly verifiedAt?: Date;
  readonly scrubbedAt?: Date;
  readonly report?: Report;
  readonly work?: Work;
}

/** The org's chain of erasures. Entries are added and sealed, never deleted. */
export class LedgerRepository {
  /** Gives the entry the next place. Others of the org that add one wait until the transaction ends. */
  async append(
    { orgId }: Scope,
    entry: Pick<Entry, "id" | "kind" | "subjectId" | "requestedBy" | "report" | "work"> & {
      readonly state: Entry["state"];
      readonly at: Date;
    },
    tx: Tx,
  ): Promise<Entry> {
    await this.lock({ orgId }, tx);
    const { id, kind, subjectId, state, requestedBy, report, work, at } = entry;
    const [last] = await tx
      .select({ position: erasures.position })
      .from(erasures)
      .where(eq(erasures.orgId, orgId))
      .orderBy(desc(erasures.position))
      .limit(1);
    const [row] = await tx
      .insert(erasures)
      .values({
        ...{ orgId, id, kind, subjectId, state, requestedBy, requestedAt: at },
        position: (last?.position ?? 0) + 1,
        report: written(report, work),
        ...(state === "erased" && { erasedAt: at }),
      })
      .returning();
    if (!row) throw new Error("insert returned no row");
    return entryOf(row);
  }

  /** Whoever adds to the org's chain, or seals what is in it, takes turns. */
  async lock({ orgId }: Scope, tx: Tx): Promise<void> {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${orgId}::text, 6))`);
  }

  async find({ orgId }: Scope, id: string, tx: Tx): Promise<Entry | undefined> {
    const [row] = await tx
      .select()
      .from(erasures)
      .where(and(eq(erasures.orgId, orgId), eq(erasures.id, id)));
    return row && entryOf(row);
  }

  /** Of an org that is gone: needs a system transaction. */
  async findOrphan(id: string, tx: Tx): Promise<Entry | undefined> {
    const gone = sql`not exists (select from orgs o where o.id = ${erasures.orgId})`;
    const [row] = await tx
      .select()
      .from(erasures)
      .where(and(eq(erasures.id, id), gone));
    return row && entryOf(row);
  }

  /** One that is still being erased of the same thing. */
  async findOpen(
    { orgId }: Scope,
    { kind, subjectId }: Pick<Entry, "kind" | "subjectId">,
    tx: Tx,
  ): Promise<Entry | undefined> {
    const [row] = await tx
      .select()
      .from(erasures)
      .where(
        and(
          eq(erasures.orgId, orgId),
          eq(erasures.kind, kind),
          eq(erasures.subjectId, subjectId),
          eq(erasures.state, "erasing"),
        ),
      );
    return row && entryOf(row);
  }

  /** Newest first, before a place in the chain. */
  async list(
    { orgId }: Scope,
    { before, limit }: { readonly before: number | undefined; readonly limit: number },
    tx: Tx,
  ): Promise<Entry[]> {
    const rows = await tx
      .select()
      .from(erasures)
      .where(
        and(
          eq(erasures.orgId, orgId),
          before === undefined ? undefined : lt(erasures.position, before),
        ),
      )
      .orderBy(desc(erasures.position))
      .limit(limit);
    return rows.map(entryOf);
  }

  /** In their order, behind a place in the chain. */
  async following(
    { orgId }: Scope,
    { after, limit }: { readonly after: number; readonly limit: number },
    tx: Tx,
  ): Promise<Entry[]> {
    const rows = await tx
      .select()
      .from(erasures)
      .where(and(eq(erasures.orgId, orgId), gt(erasures.position, after)))
      .orderBy(asc(erasures.position))
      .limit(limit);
    return rows.map(entryOf);
  }

  async update({ orgId }: Scope, id: string, changes: EntryChanges, tx: Tx): Promise<void> {
    const { report, work, ...columns } = changes;
    const known = (report === undefined) === (work === undefined);
    if (!known) throw new Error("a report and its work are one column");
    await tx
      .update(erasures)
      .set({ ...columns, ...(report && work && { report: written(report, work) }) })
      .where(and(eq(erasures.orgId, orgId), eq(erasures.id, id)));
  }

  /** Binds an entry to the one before it. Nothing of it changes afterwards. */
  async seal(
    { orgId }: Scope,
    { id, previousHash, hash }: Pick<Entry, "id" | "previousHash" | "hash">,
    tx: Tx,
  ): Promise<void> {
    await tx
      .update(erasures)
      .set({ previousHash, hash })
      .where(and(eq(erasures.orgId, orgId), eq(erasures.id, id)));
  }

  /** Entries of every org in these states, the oldest first: needs a system transaction. */
  async inStates(states: readonly Entry["state"][], limit: number, tx: Tx): Promise<Entry[]> {
    const rows = await tx
      .select()
      .from(erasures)
      .where(
        and(
          // As the partial index has it.
          notInArray(erasures.state, ["scrubbed", "failed"]),
          inArray(erasures.state, [...states]),
        ),
      )
      .orderBy(asc(erasures.requestedAt), asc(erasures.id))
      .limit(limit);
    return rows.map(entryOf);
  }
}

function written(report: Report, work: Work): string {
  return JSON.stringify(Object.keys(work).length === 0 ? report : { ...report, work });
}

function entryOf({ report: text, ...row }: typeof erasures.$inferSelect): Entry {
  const { work = {}, ...report } = (text === null ? EMPTY_REPORT : JSON.parse(text)) as Report & {
    readonly work?: Work;
  };
  return {
    ...row,
    requestedAt: row.requestedAt.toISOString(),
    erasedAt: row.erasedAt?.toISOString() ?? null,
    verifiedAt: row.verifiedAt?.toISOString() ?? null,
    scrubbedAt: row.scrubbedAt?.toISOString() ?? null,
    report: { ...EMPTY_REPORT, ...report },
    work,
  };
}

/** An entry without what only its work needs. */
export function shown({ orgId: _, work: __, ...erasure }: Entry): Erasure {
  return erasure;
}
