import { and, desc, eq, gte, inArray, or, type SQL, sql } from "drizzle-orm";
import { extractionUsage, turns } from "../db/schema/turns.ts";
import type { Tx } from "../db/tenant.ts";
import type { ArmCounts } from "./comparison.ts";
import type { Conversation, TurnState } from "./turn.ts";

interface Scope {
  readonly orgId: string;
}

export type TurnRow = typeof turns.$inferSelect;
type NewTurn = Omit<typeof turns.$inferInsert, "orgId">;
type TurnChanges = Partial<Omit<typeof turns.$inferInsert, "id" | "orgId" | "userId">>;

/** What a call of the extractor cost; negative turns give a reservation back. */
interface Usage {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A place in the list of turns, newest first. */
export interface TurnPoint {
  readonly openedAt: Date;
  readonly id: string;
}

export class TurnRepository {
  /** @returns undefined when the conversation has an open turn of this person already */
  async insert({ orgId }: Scope, turn: NewTurn, tx: Tx): Promise<TurnRow | undefined> {
    const [row] = await tx
      .insert(turns)
      .values({ orgId, ...turn })
      .onConflictDoNothing()
      .returning();
    return row;
  }

  /** Held until the transaction ends, as every turn that is read to be changed. */
  async lock({ orgId }: Scope, turnId: string, tx: Tx): Promise<TurnRow | undefined> {
    const [row] = await tx
      .select()
      .from(turns)
      .where(and(eq(turns.orgId, orgId), eq(turns.id, turnId)))
      .for("update");
    return row;
  }

  /** In a fixed order, so that two of these cannot wait for each other. */
  async lockAll({ orgId }: Scope, turnIds: readonly string[], tx: Tx): Promise<void> {
    await tx
      .select({ id: turns.id })
      .from(turns)
      .where(and(eq(turns.orgId, orgId), inArray(turns.id, [...turnIds])))
      .orderBy(turns.id)
      .for("update");
  }

  /** The newest ones that the extractor gave up. */
  async lockDead({ orgId }: Scope, limit: number, tx: Tx): Promise<string[]> {
    const rows = await tx
      .select({ id: turns.id })
      .from(turns)
      .where(and(eq(turns.orgId, orgId), eq(turns.state, "dead")))
      .orderBy(desc(turns.openedAt), desc(turns.id))
      .limit(limit)
      .for("update");
    return rows.map(({ id }) => id);
  }

  /** The open turns of a conversation: one of each person, or of the one named. */
  lockOpen({ orgId }: Scope, place: Conversation, userId: string | undefined, tx: Tx) {
    return tx
      .select()
      .from(turns)
      .where(
        and(
          eq(turns.orgId, orgId),
          eq(turns.state, "open"),
          isIn(place),
          userId === undefined ? undefined : eq(turns.userId, userId),
        ),
      )
      .orderBy(desc(turns.lastMessageAt), turns.id)
      .for("update");
  }

  async lockNewest({ orgId }: Scope, place: Conversation, userId: string, tx: Tx) {
    const [row] = await tx
      .select()
      .from(turns)
      .where(and(eq(turns.orgId, orgId), eq(turns.userId, userId), isIn(place)))
      .orderBy(desc(turns.openedAt), desc(turns.id))
      .limit(1)
      .for("update");
    return row;
  }

  async update({ orgId }: Scope, turnId: string, changes: TurnChanges, tx: Tx): Promise<void> {
    await tx
      .update(turns)
      .set(changes)
      .where(and(eq(turns.orgId, orgId), eq(turns.id, turnId)));
  }

  /** Newest first. */
  list(
    { orgId }: Scope,
    filter: { state: TurnState; before: TurnPoint | undefined; limit: number },
    tx: Tx,
  ): Promise<TurnRow[]> {
    const { state, before, limit } = filter;
    const isEarlier =
      before &&
      sql`(${turns.openedAt}, ${turns.id}) < (${before.openedAt.toISOString()}::timestamptz, ${before.id}::uuid)`;
    return newestFirst(tx, limit, eq(turns.orgId, orgId), eq(turns.state, state), isEarlier);
  }

  /** Corrections that nothing was learned from and nothing will be by itself: newest first. */
  corrections({ orgId }: Scope, limit: number, tx: Tx): Promise<TurnRow[]> {
    const isStuck = or(
      and(eq(turns.state, "closed"), eq(turns.reason, "extraction-off")),
      eq(turns.state, "dead"),
    );
    return newestFirst(tx, limit, eq(turns.orgId, orgId), eq(turns.isCorrection, true), isStuck);
  }

  /** Of the newest turns, at most `limit`, and since when those are. */
  async arms(
    { orgId }: Scope,
    { since, limit }: { readonly since: Date; readonly limit: number },
    tx: Tx,
  ): Promise<{ since: Date; arms: Partial<Record<"on" | "off", ArmCounts>> }> {
    const { arm, thumb, regenerated, openedAt } = turns;
    const newest = tx
      .select({ arm, thumb, regenerated, openedAt })
      .from(turns)
      .where(and(eq(turns.orgId, orgId), gte(openedAt, since)))
      .orderBy(desc(openedAt), desc(turns.id))
      .limit(limit)
      .as("newest");
    const counts = (condition?: SQL) =>
      condition
        ? sql<number>`count(*) filter (where ${condition})::int`
        : sql<number>`count(*)::int`;
    const rows = await tx
      .select({
        arm: newest.arm,
        turns: counts(),
        up: counts(eq(newest.thumb, "up")),
        down: counts(eq(newest.thumb, "down")),
        regenerated: counts(eq(newest.regenerated, true)),
        first: sql<string>`min(${newest.openedAt})`,
      })
      .from(newest)
      .groupBy(newest.arm);
    const isCut = rows.reduce((sum, row) => sum + row.turns, 0) === limit;
    const firsts = rows.map(({ first }) => new Date(first).getTime());
    return {
      since: isCut ? new Date(Math.min(...firsts)) : since,
      arms: Object.fromEntries(rows.map(({ arm, first: _, ...counted }) => [arm, counted])),
    };
  }

  /**
   * Takes one turn from the day's, in one statement: of two at once that want the last one only one gets it.
   *
   * @returns false when the day has none left
   */
  async reserve({ orgId }: Scope, day: string, limit: number, tx: Tx): Promise<boolean> {
    const rows = await tx
      .insert(extractionUsage)
      .values({ orgId, day, turns: 1 })
      .onConflictDoUpdate({
        target: [extractionUsage.orgId, extractionUsage.day],
        set: { turns: sql`${extractionUsage.turns} + 1` },
        setWhere: sql`${extractionUsage.turns} < ${limit}`,
      })
      .returning({ turns: extractionUsage.turns });
    return rows.length > 0;
  }

  async addUsage({ orgId }: Scope, day: string, used: Usage, tx: Tx): Promise<void> {
    await tx
      .update(extractionUsage)
      .set({
        turns: sql`${extractionUsage.turns} + ${used.turns}`,
        inputTokens: sql`${extractionUsage.inputTokens} + ${used.inputTokens}`,
        outputTokens: sql`${extractionUsage.outputTokens} + ${used.outputTokens}`,
      })
      .where(and(eq(extractionUsage.orgId, orgId), eq(extractionUsage.day, day)));
  }

  /** Newest day first. */
  usage({ orgId }: Scope, days: number, tx: Tx) {
    const { day, turns: extracted, inputTokens, outputTokens } = extractionUsage;
    return tx
      .select({ day, turns: extracted, inputTokens, outputTokens })
      .from(extractionUsage)
      .where(eq(extractionUsage.orgId, orgId))
      .orderBy(desc(day))
      .limit(days);
  }
}

function isIn({ channel, account, conversationId }: Conversation) {
  return and(
    eq(turns.channel, channel),
    eq(turns.account, account),
    eq(turns.conversationId, conversationId),
  );
}

function newestFirst(tx: Tx, limit: number, ...conditions: (SQL | undefined)[]) {
  return tx
    .select()
    .from(turns)
    .where(and(...conditions))
    .orderBy(desc(turns.openedAt), desc(turns.id))
    .limit(limit);
}
