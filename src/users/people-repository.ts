import { type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { PersonCard, PersonDetail, UserStatus } from "./person.ts";

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

/** Beyond it a page says "more than 1,000": an exact number would take as long as there is much. */
const COUNTED = 1_001;

type StoredDetail = Omit<PersonDetail, "createdAt" | "approvedAt" | "identities"> & {
  readonly createdAt: number;
  readonly approvedAt: number | null;
  readonly identities: readonly (Omit<
    PersonDetail["identities"][number],
    "since" | "unreachableAt"
  > & { readonly since: number; readonly unreachableAt: number | null })[];
};

export class PeopleRepository {
  /** Newest first: ids are in the order of their making. Whoever was linked to another person is that one. */
  async list({ orgId }: Scope, filter: PeopleFilter, tx: Tx): Promise<PersonCard[]> {
    const { search, id, status, before, limit } = filter;
    const rows = await tx.execute<{ card: string }>(sql`
      select ${cardOf(orgId)} as card
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
    return rows.map(({ card }) => readCard(card));
  }

  /** People by the internal ids that were asked for: whoever was linked to another person is that one. */
  async byIds(
    { orgId }: Scope,
    ids: readonly string[],
    tx: Tx,
  ): Promise<ReadonlyMap<string, PersonCard>> {
    const rows = await tx.execute<{ id: string; card: string }>(sql`
      select asked.id, ${cardOf(orgId)} as card
      from users asked
      join users u on u.org_id = ${orgId} and u.id = coalesce(asked.linked_into, asked.id)
      where asked.org_id = ${orgId} and asked.id = any(${sqlArray(ids)}::uuid[])`);
    return new Map(rows.map(({ id, card }) => [id, readCard(card)]));
  }

  /** Who somebody is, and how much is kept of them. */
  async detail({ orgId }: Scope, id: string, tx: Tx): Promise<PersonDetail | undefined> {
    const upTo = (rows: SQL) => sql`(select count(*) from (${rows} limit ${COUNTED}) counted)`;
    const [row] = await tx.execute<{ person: string }>(sql`
      select json_build_object('id', u.id, 'username', u.username, 'firstName', u.first_name,
        'status', u.status, 'role', u.role, 'createdAt', ${millis("u.created_at")}, 'approvedAt', ${millis("u.approved_at")},
        'identities', (select coalesce(json_agg(json_build_object('channel', i.channel, 'externalId', i.external_id,
            'username', i.username, 'firstName', i.first_name, 'since', ${millis("i.created_at")},
            'unreachableAt', ${millis("i.unreachable_at")}) order by i.created_at, i.id), '[]')
          from channel_identities i where i.org_id = ${orgId} and i.user_id = u.id),
        'linked', (select coalesce(json_agg(o.id order by o.id), '[]') from users o
          where o.org_id = ${orgId} and o.linked_into = u.id),
        'holdings', json_build_object(
          'messages', ${upTo(sql`select from chat_messages m where m.org_id = ${orgId} and m.user_id = ${id}`)},
          'facts', ${upTo(sql`select from user_facts f where f.org_id = ${orgId} and f.user_id = ${id}
            and f.archived_at is null and f.merged_into is null`)},
          'entries', (select count(distinct k.key) from memory_kv k where k.org_id = ${orgId} and k.user_id = ${id}))
        )::text as person
      from users u where u.org_id = ${orgId} and u.id = ${id}`);
    if (!row) return undefined;
    const person = JSON.parse(row.person) as StoredDetail;
    return {
      ...person,
      createdAt: isoOf(person.createdAt),
      approvedAt: isoOf(person.approvedAt),
      identities: person.identities.map(({ since, unreachableAt, ...identity }) => ({
        ...identity,
        since: isoOf(since),
        unreachableAt: isoOf(unreachableAt),
      })),
    };
  }
}

/** A person `u` as JSON text. */
function cardOf(orgId: string) {
  return sql`json_build_object('id', u.id, 'username', u.username, 'firstName', u.first_name,
    'status', u.status, 'role', u.role, 'createdAt', ${millis("u.created_at")},
    'identities', (select coalesce(json_agg(i.channel || ':' || i.external_id order by i.created_at, i.id), '[]')
      from channel_identities i where i.org_id = ${orgId} and i.user_id = u.id))::text`;
}

function readCard(card: string): PersonCard {
  const person = JSON.parse(card) as Omit<PersonCard, "createdAt"> & { createdAt: number };
  return { ...person, createdAt: isoOf(person.createdAt) };
}

/** Epoch milliseconds: JSON has no dates. */
function millis(column: string) {
  return sql.raw(`(extract(epoch from ${column}) * 1000)::bigint`);
}

function isoOf(at: number): string;
function isoOf(at: number | null): string | null;
function isoOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The same `lower` on both sides: it folds more letters on one database than on another. */
function named(orgId: string, search: string) {
  const holds = (text: string) => sql`strpos(lower(${sql.raw(text)}), lower(${search})) > 0`;
  return sql`(${holds("concat_ws(' ', u.first_name, u.username)")} or exists (
    select 1 from channel_identities i
    where i.org_id = ${orgId} and i.user_id = u.id and ${holds("i.channel || ':' || i.external_id")}))`;
}
