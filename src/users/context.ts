import { sql } from "drizzle-orm";
import type { HistoryMessage } from "../chat/history.ts";
import type { Tx } from "../db/tenant.ts";
import type { PersonRef, UserStatus } from "./person.ts";

interface Scope {
  readonly orgId: string;
}

export interface PersonProfile {
  readonly id: string;
  readonly username: string | null;
  readonly firstName: string | null;
  readonly status: UserStatus;
  readonly role: "customer" | "operator";
  readonly createdAt: string;
  readonly approvedAt: string | null;
  readonly identities: readonly { readonly channel: string; readonly externalId: string }[];
}

export interface PersonContext {
  readonly user: PersonProfile;
  readonly memory: Readonly<Record<string, unknown>>;
  /** Newest first, one more than asked for where there are more. */
  readonly recent: readonly HistoryMessage[];
}

/** JSON has no dates: points in time travel as epoch milliseconds. */
interface MessageRow extends Omit<HistoryMessage, "sentAt" | "editedAt"> {
  readonly sentAt: number;
  readonly editedAt: number | null;
}

interface ProfileRow extends Omit<PersonProfile, "createdAt" | "approvedAt"> {
  readonly createdAt: number;
  readonly approvedAt: number | null;
}

/** Reads what belongs together over the tables of several domains. */
export class ContextRepository {
  /** Person, entries and newest messages in one statement, so that all are of one snapshot. */
  async read(
    { orgId }: Scope,
    ref: PersonRef,
    options: { recentLimit: number; keys: readonly string[] | undefined },
    tx: Tx,
  ): Promise<PersonContext | undefined> {
    const userId =
      "internalId" in ref
        ? sql`(select coalesce(linked_into, id) from users where org_id = ${orgId} and id = ${ref.internalId})`
        : sql`(select user_id from channel_identities
            where org_id = ${orgId} and channel = ${ref.channel} and external_id = ${ref.externalId})`;
    const only = options.keys
      ? sql`and key in (select json_array_elements_text(${JSON.stringify(options.keys)}::json))`
      : sql``;
    const [row] = await tx.execute<{ user: string; memory: string; recent: string }>(sql`
      select
        json_build_object('id', u.id, 'username', u.username, 'firstName', u.first_name,
          'status', u.status, 'role', u.role, 'createdAt', ${millis("u.created_at")},
          'approvedAt', ${millis("u.approved_at")},
          'identities', (select coalesce(json_agg(json_build_object(
              'channel', i.channel, 'externalId', i.external_id) order by i.created_at, i.id), '[]')
            from channel_identities i where i.org_id = ${orgId} and i.user_id = u.id)) as user,
        (select coalesce(json_object_agg(key, value order by key), '{}') from (
          select distinct on (key) key, value from memory_kv
          where org_id = ${orgId} and user_id = u.id ${only}
          order by key, updated_at desc, identity_id) entries) as memory,
        (select coalesce(json_agg(json_build_object('id', m.id, 'direction', m.direction, 'kind', m.kind,
            'text', m.text, 'channel', m.channel, 'sentAt', ${millis("m.sent_at")},
            'editedAt', ${millis("m.edited_at")}, 'failed', m.delivery_status is not distinct from 'failed') order by m.sent_at desc, m.id desc), '[]') from (
          select id, direction, kind, text, channel, sent_at, edited_at, delivery_status
          from chat_messages
          where org_id = ${orgId} and user_id = u.id
          order by sent_at desc, id desc limit ${options.recentLimit + 1}) m) as recent
      from users u where u.org_id = ${orgId} and u.id = ${userId}`);
    if (!row) return undefined;
    const user = JSON.parse(row.user) as ProfileRow;
    const recent = JSON.parse(row.recent) as MessageRow[];
    return {
      user: {
        ...user,
        createdAt: new Date(user.createdAt).toISOString(),
        approvedAt: user.approvedAt === null ? null : new Date(user.approvedAt).toISOString(),
      },
      memory: JSON.parse(row.memory) as Record<string, unknown>,
      recent: recent.map((message) => ({
        ...message,
        sentAt: new Date(message.sentAt),
        editedAt: message.editedAt === null ? null : new Date(message.editedAt),
      })),
    };
  }
}

function millis(column: string) {
  return sql.raw(`(extract(epoch from ${column}) * 1000)::bigint`);
}
