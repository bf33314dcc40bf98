import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { memoryKv } from "../db/schema/kv.ts";
import type { Tx } from "../db/tenant.ts";
import type { Move } from "../users/move.ts";

/** Moves entries to another person; each keeps the identity it came by, of which one key has one. */
export class KvMoveRepository {
  async move({ orgId, from, to, identityIds, everythingAs }: Move, tx: Tx): Promise<void> {
    const ofPerson = and(eq(memoryKv.orgId, orgId), eq(memoryKv.userId, from));
    if (everythingAs === undefined) {
      await tx
        .update(memoryKv)
        .set({ userId: to })
        .where(and(ofPerson, inArray(memoryKv.identityId, [...identityIds])));
      return;
    }
    if (everythingAs !== null) await this.#adopt({ orgId, from }, everythingAs, tx);
    else await this.#makeRoom({ orgId, from, to }, tx);
    await tx.update(memoryKv).set({ userId: to }).where(ofPerson);
  }

  /** Gives entries of no identity one; of two under one key the later stays, as it is the one that is read. */
  async #adopt({ orgId, from }: Pick<Move, "orgId" | "from">, identityId: string, tx: Tx) {
    await tx.execute(sql`
      delete from memory_kv k using memory_kv other
      where k.org_id = ${orgId} and other.org_id = ${orgId} and k.user_id = ${from} and other.user_id = ${from}
        and k.key = other.key and (k.identity_id is null and other.identity_id = ${identityId}
            and k.updated_at <= other.updated_at
          or k.identity_id = ${identityId} and other.identity_id is null and k.updated_at < other.updated_at)`);
    await tx
      .update(memoryKv)
      .set({ identityId })
      .where(
        and(eq(memoryKv.orgId, orgId), eq(memoryKv.userId, from), isNull(memoryKv.identityId)),
      );
  }

  /** Of somebody who has no identity: their entries take the places of older ones that came by none either. */
  async #makeRoom({ orgId, from, to }: Pick<Move, "orgId" | "from" | "to">, tx: Tx) {
    await tx.execute(sql`
      delete from memory_kv k using memory_kv other
      where k.org_id = ${orgId} and other.org_id = ${orgId} and k.identity_id is null and other.identity_id is null
        and k.key = other.key and (k.user_id = ${from} and other.user_id = ${to} and k.updated_at <= other.updated_at
          or k.user_id = ${to} and other.user_id = ${from} and k.updated_at < other.updated_at)`);
  }
}
