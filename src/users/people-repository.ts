import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import type { PersonCard, UserStatus } from "./person.ts";

interface Scope {
  readonly orgId: string;
}

export interface PeopleFilter {
  /** Part of a name or of `channel:externalId`. */
  readonly search?: string | undefined;
  readonly id?: string | undefined;
  readonly status?: UserStatus | undefined;
  /** Only people who came before the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export class PeopleRepository {
  /** Newest first: ids are in the order of their making. Whoever was linked to another person is that one. */
  async list({ orgId }: Scope, filter: PeopleFilter, tx: Tx): Promise<PersonCard[]> {
    const { search, id, status, before, limit } = filter;
    const rows = await tx.execute<{ card: string }>(sql`
      select json_build_object('id', u.id, 'username', u.username, 'firstName', u.first_name,
        'status', u.status, 'role', u.role, 'createdAt', (extract(epoch from u.created_at) * 1000)::bigint,
        'identities', (select coalesce(json_agg(i.channel || ':' || i.external_id order by i.created_at, i.id), '[]')
          from channel_identities i where i.org_id = ${orgId} and i.user_id = u.id))::text as card
      from users u
      where u.org_id = ${orgId} and u.linked_into is null
        ${
          id === undefined
            ? sql``
            : sql`and u.id = (select coalesce(named.linked_into, named.id) from users named
              where named.org_id = ${orgId} and named.id = ${id}::uuid)`
        }
        ${status === undefined ? sql`` : sql`and u.status = ${status}`}
        ${before === undefined ? sql`` : sql`and u.id < ${before}::uuid`}
        ${search === undefined ? sql`` : sql`and ${named(orgId, search)}`}
      order by u.id desc limit ${limit}`);
    return rows.map(({ card }) => {
      const person = JSON.parse(card) as Omit<PersonCard, "createdAt"> & { createdAt: number };
      return { ...person, createdAt: new Date(person.createdAt).toISOString() };
    });
  }
}

/** The same `lower` on both sides: it folds more letters on one database than on another. */
function named(orgId: string, search: string) {
  const holds = (text: string) => sql`strpos(lower(${sql.raw(text)}), lower(${search})) > 0`;
  return sql`(${holds("concat_ws(' ', u.first_name, u.username)")} or exists (
    select 1 from channel_identities i
    where i.org_id = ${orgId} and i.user_id = u.id and ${holds("i.channel || ':' || i.external_id")}))`;
}
