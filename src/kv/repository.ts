import { and, eq, inArray, sql } from "drizzle-orm";
import { memoryKv } from "../db/schema/kv.ts";
import type { Tx } from "../db/tenant.ts";
import type { WrittenEntry } from "./entry.ts";

interface Scope {
  readonly orgId: string;
}

interface Owner {
  readonly userId: string;
  readonly identityId: string | null;
}

export interface StoredEntry {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  readonly bytes: number;
}

/** An entry as it is read, with who wrote it last. */
export interface CurrentEntry extends StoredEntry {
  readonly writtenBy: string;
  readonly agentId: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

interface Usage {
  readonly keys: number;
  readonly bytes: number;
}

export class KvRepository {
  /**
   * Inserts or overwrites entries in one statement. `updatedAt` of a key always moves forward, also between two writes
   * in one millisecond, so "latest" is never a guess.
   */
  async upsert(
    { orgId }: Scope,
    owner: Owner,
    entries: readonly StoredEntry[],
    by: { keyId: string; agentId: string; at: Date },
    tx: Tx,
  ): Promise<WrittenEntry[]> {
    // The values travel as JSON text inside one JSON document: no array types, no second parse.
    const incoming = `[${entries
      .map(({ key, value, bytes }) => `[${JSON.stringify(key)},${bytes},${value}]`)
      .join(",")}]`;
    const at = by.at.toISOString();
    const rows = await tx.execute<{ key: string; created: boolean; updated_at: string }>(sql`
      with incoming as (
        select e->>0 as key, (e->>1)::int as bytes, e->2 as value
        from json_array_elements(${incoming}::json) as e
      ), earlier as (
        select key, max(updated_at) as updated_at from memory_kv
        where org_id = ${orgId} and user_id = ${owner.userId} and key in (select key from incoming)
        group by key
      ), written as (
        insert into memory_kv
          (org_id, user_id, identity_id, key, value, bytes, written_by, agent_id, created_at, updated_at)
        select ${orgId}::uuid, ${owner.userId}::uuid, ${owner.identityId}::uuid, i.key, i.value, i.bytes,
          ${by.keyId}, ${by.agentId}, ${at}::timestamptz,
          greatest(${at}::timestamptz, e.updated_at + interval '1 millisecond')
        from incoming i left join earlier e using (key)
        on conflict on constraint memory_kv_entry do update set
          value = excluded.value, bytes = excluded.bytes, written_by = excluded.written_by,
          agent_id = excluded.agent_id, updated_at = excluded.updated_at
        returning key, updated_at
      )
      select w.key, e.key is null as created, w.updated_at
      from written w left join earlier e using (key)`);
    return rows.map((row) => ({
      key: row.key,
      created: row.created,
      updatedAt: new Date(row.updated_at),
    }));
  }

  /** What the person's current entries amount to: the latest row of each key. */
  async usage({ orgId }: Scope, userId: string, tx: Tx): Promise<Usage> {
    const [row] = await tx.execute<{ keys: number; bytes: number }>(sql`
      select count(*)::int as keys, coalesce(sum(bytes), 0)::int as bytes from (
        select distinct on (key) bytes from memory_kv
        where org_id = ${orgId} and user_id = ${userId}
        order by key, updated_at desc
      ) latest`);
    return row ?? { keys: 0, bytes: 0 };
  }

  /** The person's current entries, the latest row of each key, by key. */
  async entries(
    { orgId }: Scope,
    userId: string,
    page: {
      readonly key?: string | undefined;
      readonly after?: string | undefined;
      readonly limit: number;
    },
    tx: Tx,
  ): Promise<CurrentEntry[]> {
    const only = page.key === undefined ? sql`` : sql`and key = ${page.key}`;
    const after = page.after === undefined ? sql`` : sql`and key collate "C" > ${page.after}`;
    const rows = await tx.execute<{ entry: string; value: string }>(sql`
      select value, json_build_object('key', key, 'bytes', bytes, 'writtenBy', written_by, 'agentId', agent_id,
        'updatedAt', (extract(epoch from updated_at) * 1000)::bigint)::text as entry
      from (
        select distinct on (key collate "C") * from memory_kv
        where org_id = ${orgId} and user_id = ${userId} ${only} ${after}
        order by key collate "C", updated_at desc
        limit ${page.limit}) latest
      order by key collate "C"`);
    return rows.map(({ entry, value }) => ({ ...(JSON.parse(entry) as CurrentEntry), value }));
  }

  /** @returns how many keys there were */
  async delete({ orgId }: Scope, userId: string, keys: readonly string[], tx: Tx): Promise<number> {
    const rows = await tx
      .delete(memoryKv)
      .where(
        and(
          eq(memoryKv.orgId, orgId),
          eq(memoryKv.userId, userId),
          inArray(memoryKv.key, [...keys]),
        ),
      )
      .returning({ key: memoryKv.key });
    return new Set(rows.map((row) => row.key)).size;
  }
}
