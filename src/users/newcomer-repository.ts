import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import { channelIdentities } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";
import type { Newcomer } from "./newcomers.ts";
import type { Person, UserStatus } from "./person.ts";

interface Scope {
  readonly orgId: string;
}

/** People of one channel by the hundred, in a statement each. */
export class NewcomerRepository {
  /** Those of these external ids who are known. */
  async find(
    { orgId }: Scope,
    channel: string,
    externalIds: readonly string[],
    tx: Tx,
  ): Promise<Map<string, Person>> {
    const rows = await tx.execute<{ external_id: string; user_id: string; id: string }>(sql`
      select external_id, user_id, id from ${channelIdentities}
      where org_id = ${orgId} and channel = ${channel}
        and external_id in (select json_array_elements_text(${JSON.stringify(externalIds)}::json))`);
    return new Map(
      rows.map((row) => [row.external_id, { userId: row.user_id, identityId: row.id }]),
    );
  }

  /** Makes first contacts of these external ids wait for each other. One order for all: else they could deadlock. */
  async lock(
    { orgId }: Scope,
    channel: string,
    externalIds: readonly string[],
    tx: Tx,
  ): Promise<void> {
    // The names that UserRepository.lockExternal locks.
    const names = externalIds.map((id) => JSON.stringify([orgId, channel, id])).sort();
    await tx.execute(sql`
      select pg_advisory_xact_lock(hashtextextended(name, 0))
      from json_array_elements_text(${JSON.stringify(names)}::json) with ordinality named(name, at) order by at`);
  }

  async create(
    { orgId }: Scope,
    channel: string,
    people: readonly Newcomer[],
    first: { readonly status: UserStatus; readonly at: Date },
    tx: Tx,
  ): Promise<Map<string, Person>> {
    const rows = people.map(({ externalId, username = null, firstName = null }) => ({
      userId: v7(),
      identityId: v7(),
      externalId,
      username,
      firstName,
    }));
    const at = first.at.toISOString();
    const approvedAt = first.status === "approved" ? at : null;
    await tx.execute(sql`
      with person as materialized (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as person("userId" uuid, "identityId" uuid,
          "externalId" text, username text, "firstName" text)),
      made as (
        insert into users (id, org_id, status, username, first_name, created_at, approved_at)
        select "userId", ${orgId}::uuid, ${first.status}, username, "firstName", ${at}::timestamptz,
          ${approvedAt}::timestamptz from person)
      insert into channel_identities (id, org_id, user_id, channel, external_id, username, first_name, created_at)
      select "identityId", ${orgId}::uuid, "userId", ${channel}, "externalId", username, "firstName",
        ${at}::timestamptz from person`);
    return new Map(
      rows.map(({ externalId, userId, identityId }) => [externalId, { userId, identityId }]),
    );
  }
}
