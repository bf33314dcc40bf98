import { and, count, eq, type SQL, sql } from "drizzle-orm";
import { channelIdentities, users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";
import type { Person, PersonRef, PersonWithIdentities, Standing, UserStatus } from "./person.ts";

interface Scope {
  readonly orgId: string;
}

interface ExternalId {
  readonly channel: string;
  readonly externalId: string;
}

export interface Profile {
  readonly username?: string | undefined;
  readonly firstName?: string | undefined;
}

export class UserRepository {
  /**
   * An id of somebody who was linked to another person means that one. The identity is the person's only one; with several,
   * none in particular.
   */
  async findInternal({ orgId }: Scope, id: string, tx: Tx): Promise<Person | undefined> {
    const [row] = await tx
      .select({
        userId: users.id,
        identities: count(channelIdentities.id),
        identityId: sql<string | null>`min(${channelIdentities.id}::text)`,
      })
      .from(users)
      .leftJoin(
        channelIdentities,
        and(eq(channelIdentities.orgId, orgId), eq(channelIdentities.userId, users.id)),
      )
      .where(
        and(
          eq(users.orgId, orgId),
          sql`${users.id} = (select coalesce(named.linked_into, named.id) from users named
            where named.org_id = ${orgId} and named.id = ${id})`,
        ),
      )
      .groupBy(users.id);
    if (!row) return undefined;
    return { userId: row.userId, identityId: row.identities === 1 ? row.identityId : null };
  }

  async standing({ orgId }: Scope, userId: string, tx: Tx): Promise<Standing | undefined> {
    const [row] = await tx
      .select({ status: users.status, role: users.role })
      .from(users)
      .where(and(eq(users.orgId, orgId), eq(users.id, userId)));
    return row;
  }

  /** @returns when the person was approved first: null for never, undefined for nobody */
  async setStatus(
    { orgId }: Scope,
    userId: string,
    status: UserStatus,
    at: Date,
    tx: Tx,
  ): Promise<Date | null | undefined> {
    const [row] = await tx
      .update(users)
      .set({
        status,
        ...(status === "approved" && {
          approvedAt: sql`coalesce(${users.approvedAt}, ${at.toISOString()}::timestamptz)`,
        }),
      })
      .where(and(eq(users.orgId, orgId), eq(users.id, userId)))
      .returning({ approvedAt: users.approvedAt });
    return row?.approvedAt ?? (row ? null : undefined);
  }

  /** A person with their identities, oldest first. */
  async profile(
    { orgId }: Scope,
    userId: string,
    tx: Tx,
  ): Promise<PersonWithIdentities | undefined> {
    const rows = await tx
      .select({ user: users, identity: channelIdentities })
      .from(users)
      .leftJoin(
        channelIdentities,
        and(eq(channelIdentities.orgId, orgId), eq(channelIdentities.userId, users.id)),
      )
      .where(and(eq(users.orgId, orgId), eq(users.id, userId)))
      .orderBy(channelIdentities.createdAt, channelIdentities.id);
    const [first] = rows;
    if (!first) return undefined;
    const { id, username, firstName, status, role } = first.user;
    const identities = rows.flatMap(({ identity }) => identity ?? []);
    return {
      ...{ id, username, firstName, status, role },
      identities: identities.map(({ id, channel, externalId }) => ({ id, channel, externalId })),
    };
  }

  async findExternal({ orgId }: Scope, ref: ExternalId, tx: Tx): Promise<Person | undefined> {
    const [row] = await tx
      .select({ userId: channelIdentities.userId, identityId: channelIdentities.id })
      .from(channelIdentities)
      .where(
        and(
          eq(channelIdentities.orgId, orgId),
          eq(channelIdentities.channel, ref.channel),
          eq(channelIdentities.externalId, ref.externalId),
        ),
      );
    return row;
  }

  /**
   * Until the transaction ends, nobody is linked to another person whom these names name: what is read after it stays right.
   * Writers do not wait for each other. To be taken before any other lock.
   */
  async keepUnlinked({ orgId }: Scope, names: readonly PersonRef[], tx: Tx): Promise<void> {
    await tx.execute(
      sql`select pg_advisory_xact_lock_shared(hashtextextended(name, 5)) from ${inOrder(orgId, names)}`,
    );
  }

  /** Waits for everybody who holds one of these names by `keepUnlinked`, and keeps others from it. */
  async keepForLink({ orgId }: Scope, names: readonly PersonRef[], tx: Tx): Promise<void> {
    await tx.execute(
      sql`select pg_advisory_xact_lock(hashtextextended(name, 5)) from ${inOrder(orgId, names)}`,
    );
  }

  /** The channels' ids of a person, oldest first. */
  identitiesOf({ orgId }: Scope, userId: string, tx: Tx) {
    return tx
      .select({
        id: channelIdentities.id,
        channel: channelIdentities.channel,
        externalId: channelIdentities.externalId,
        unreachableAt: channelIdentities.unreachableAt,
      })
      .from(channelIdentities)
      .where(and(eq(channelIdentities.orgId, orgId), eq(channelIdentities.userId, userId)))
      .orderBy(channelIdentities.createdAt, channelIdentities.id);
  }

  /** Makes concurrent first contacts of one external id wait for each other, so that they make one person. */
  async lockExternal({ orgId }: Scope, ref: ExternalId, tx: Tx): Promise<void> {
    const name = JSON.stringify([orgId, ref.channel, ref.externalId]);
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  }

  async create(
    { orgId }: Scope,
    ref: ExternalId,
    person: Profile & { status: UserStatus; at: Date },
    tx: Tx,
  ): Promise<Person> {
    const profile = { username: person.username ?? null, firstName: person.firstName ?? null };
    const approvedAt = person.status === "approved" ? person.at : null;
    const [user] = await tx
      .insert(users)
      .values({ orgId, status: person.status, createdAt: person.at, approvedAt, ...profile })
      .returning({ id: users.id });
    if (!user) throw new Error("insert returned no row");
    const [identity] = await tx
      .insert(channelIdentities)
      .values({ orgId, userId: user.id, ...ref, createdAt: person.at, ...profile })
      .returning({ id: channelIdentities.id });
    if (!identity) throw new Error("insert returned no row");
    return { userId: user.id, identityId: identity.id };
  }

  /** A person's ids on a channel. */
  async externalIds({ orgId }: Scope, userId: string, channel: string, tx: Tx): Promise<string[]> {
    const rows = await tx
      .select({ externalId: channelIdentities.externalId })
      .from(channelIdentities)
      .where(
        and(
          eq(channelIdentities.orgId, orgId),
          eq(channelIdentities.userId, userId),
          eq(channelIdentities.channel, channel),
        ),
      );
    return rows.map(({ externalId }) => externalId);
  }

  /**
   * Gives a person another id beside one of theirs: where links moved that one, an undo takes both back.
   *
   * @returns undefined when the id is taken
   */
  async addIdentity(
    { orgId }: Scope,
    { userId, identityId: known }: Person,
    ref: ExternalId,
    at: Date,
    tx: Tx,
  ): Promise<Person | undefined> {
    const [added] = await tx
      .insert(channelIdentities)
      .values({ orgId, userId, ...ref, createdAt: at })
      .onConflictDoNothing()
      .returning({ id: channelIdentities.id });
    if (!added) return undefined;
    await tx.execute(sql`
      insert into identity_link_moves (org_id, link_id, identity_id)
      select ${orgId}::uuid, link_id, ${added.id}::uuid from identity_link_moves
      where org_id = ${orgId} and identity_id = ${known}`);
    return { userId, identityId: added.id };
  }

  /** Holds the person's row until the transaction ends, so that limits are counted by one writer at a time. */
  async lock({ orgId }: Scope, userId: string, tx: Tx): Promise<void> {
    await tx.execute(sql`select 1 from ${users}
      where ${users.orgId} = ${orgId} and ${users.id} = ${userId} for no key update`);
  }

  /** Keeps the platform's current name of a person; writes nothing when it did not change. */
  async updateProfile({ orgId }: Scope, person: Person, profile: Profile, tx: Tx): Promise<void> {
    if (person.identityId === null) return;
    const username = profile.username ?? null;
    const firstName = profile.firstName ?? null;
    const changed = await tx
      .update(channelIdentities)
      .set({ username, firstName })
      .where(
        and(
          eq(channelIdentities.orgId, orgId),
          eq(channelIdentities.id, person.identityId),
          sql`(${channelIdentities.username}, ${channelIdentities.firstName}) is distinct from (${username}::text, ${firstName}::text)`,
        ),
      )
      .returning({ id: channelIdentities.id });
    if (changed.length === 0) return;
    await tx
      .update(users)
      .set({ username, firstName })
      .where(and(eq(users.orgId, orgId), eq(users.id, person.userId)));
  }

  async setReachable(
    { orgId }: Scope,
    ref: ExternalId,
    unreachableAt: Date | null,
    tx: Tx,
  ): Promise<void> {
    await tx
      .update(channelIdentities)
      .set({ unreachableAt })
      .where(
        and(
          eq(channelIdentities.orgId, orgId),
          eq(channelIdentities.channel, ref.channel),
          eq(channelIdentities.externalId, ref.externalId),
        ),
      );
  }
}

/** One order for all, or two of these could wait for each other. */
function inOrder(orgId: string, names: readonly PersonRef[]): SQL {
  const texts = names.map((name) =>
    JSON.stringify(
      "internalId" in name ? [orgId, name.internalId] : [orgId, name.channel, name.externalId],
    ),
  );
  const sorted = JSON.stringify([...new Set(texts)].sort());
  return sql`json_array_elements_text(${sorted}::json) with ordinality named(name, at)`;
}
