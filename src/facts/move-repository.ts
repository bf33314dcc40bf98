import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Move } from "../users/move.ts";
import type { Slot } from "./row.ts";

/** What a renamed source ends with. With `#`, it is one of its message's still, as an edit is. */
const SUFFIX = "#link:";

/** Moves a person's facts to another person, with what was decided about them and what happened to them. */
export class FactMoveRepository {
  /** The keys of what goes, at most so many. */
  async slots(move: Move, limit: number, tx: Tx): Promise<Slot[]> {
    const rows = await tx.execute<{ agent_id: string; key: string }>(sql`
      select distinct f.agent_id, f.key from user_facts f
      where f.org_id = ${move.orgId} and f.user_id = ${move.from} and ${goes(move)}
      order by f.agent_id, f.key limit ${limit}`);
    return rows.map(({ agent_id: agentId, key }) => ({ agentId, key }));
  }

  /**
   * Moves rows, their decisions and events. Every key that one of these rows lies in, on either side, has to be folded
   * again; until then no row speaks for one of the other person's.
   */
  async move(move: Move, tx: Tx): Promise<void> {
    const { orgId, from, to, everythingAs } = move;
    const moved = sql`(select f.id from user_facts f
      where f.org_id = ${orgId} and f.user_id = ${from} and ${goes(move)})`;
    await tx.execute(sql`
      update fact_decisions d set user_id = ${to}
      where d.org_id = ${orgId} and d.user_id = ${from} and d.fact_id in ${moved}`);
    await tx.execute(sql`
      update memory_events e set user_id = ${to}
      where e.org_id = ${orgId} and e.user_id = ${from} and e.fact_id in ${moved}`);
    // Those that stay are told before the others are gone.
    await tx.execute(sql`
      update user_facts s set consolidated_at = null
      where s.org_id = ${orgId} and s.user_id in (${from}, ${to}) and (s.agent_id, s.key) in (
        select f.agent_id, f.key from user_facts f
        where f.org_id = ${orgId} and f.user_id = ${from} and ${goes(move)})`);
    await this.#rename(move, tx);
    await tx.execute(sql`
      update user_facts f set user_id = ${to}
        ${everythingAs ? sql`, identity_id = coalesce(f.identity_id, ${everythingAs}::uuid)` : sql``}
      where f.org_id = ${orgId} and f.user_id = ${from} and ${goes(move)}`);
    if (everythingAs === undefined) await this.#part(move, tx);
  }

  /** A source that the caller named may have been named for both people: it is two sources still. */
  async #rename(move: Move, tx: Tx): Promise<void> {
    const { orgId, from, to, linkId, everythingAs } = move;
    if (everythingAs === undefined) return;
    await tx.execute(sql`
      update user_facts f set source_message_id = f.source_message_id || ${SUFFIX + linkId}
      where f.org_id = ${orgId} and f.user_id = ${from} and exists (
        select from user_facts t where t.org_id = ${orgId} and t.user_id = ${to} and t.agent_id = f.agent_id
          and t.key = f.key and t.source_message_id = f.source_message_id)`);
  }

  /** After an undo: sources get their names back where those are free, and no row speaks for another person's. */
  async #part({ orgId, from, to }: Move, tx: Tx): Promise<void> {
    const bare = (alias: string) =>
      sql.raw(`regexp_replace(${alias}.source_message_id, '(${SUFFIX}[0-9a-f-]{36})+$', '')`);
    await tx.execute(sql`
      update user_facts f set source_message_id = ${bare("f")}
      where f.org_id = ${orgId} and f.user_id = ${to} and strpos(f.source_message_id, ${SUFFIX}) > 0
        and not exists (select from user_facts o
          where o.org_id = ${orgId} and o.user_id = ${to} and o.id <> f.id and o.agent_id = f.agent_id and o.key = f.key
            and ${bare("o")} = ${bare("f")})`);
    await tx.execute(sql`
      update user_facts f set consolidated_at = null, merged_into = null, superseded_by = null,
        archived_at = null, archived_reason = null
      where f.org_id = ${orgId} and f.user_id in (${from}, ${to}) and exists (
        select from user_facts o where o.org_id = ${orgId} and o.id in (f.merged_into, f.superseded_by)
          and o.user_id <> f.user_id)`);
  }
}

function goes({ identityIds, everythingAs }: Move) {
  return everythingAs === undefined
    ? sql`f.identity_id = any(${sqlArray(identityIds)}::uuid[])`
    : sql`true`;
}
