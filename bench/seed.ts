import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import type { Person } from "../src/users/person.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import type { Services } from "./services.ts";
import { count } from "./table.ts";

/** As many as the embedded database inserts in a few seconds, so that an interrupt is heard. */
const BATCH = 50_000;
const FIRST_MESSAGE = Date.parse("2020-01-01T00:00:00Z");
const MINUTE = 60_000;

type Progress = Pick<BenchmarkOptions, "say" | "signal">;

/** An org of its own and who acts for it. */
export async function seedOwner({ orgs, database }: Services): Promise<Principal> {
  const org = await database.transactions.system("bootstrap", (tx) => orgs.ensure("bench", tx));
  return { orgId: org.id, keyId: "bench", role: "owner", defaultAgent: "atlas", pins: {} };
}

export function seedPerson(
  { users, database }: Services,
  owner: Principal,
  userId: string,
): Promise<Person> {
  return database.transactions.tenant(owner, (tx) => users.findOrCreate(owner, userId, tx));
}

/** When the nth message of a seeded archive was sent, counted from 1. */
export function sentAt(n: number): Date {
  return new Date(FIRST_MESSAGE + n * MINUTE);
}

/**
 * Archives one message a minute, both directions in turn, with texts of 20 to 220 characters and a payload as Telegram
 * sends it. Ids grow with time, as the server's own do.
 */
export async function seedMessages(
  { database }: Services,
  owner: Principal,
  { userId, identityId }: Person,
  rows: number,
  { say, signal }: Progress,
): Promise<void> {
  for (let from = 1; from <= rows; from += BATCH) {
    signal.throwIfAborted();
    const to = Math.min(rows, from + BATCH - 1);
    await database.transactions.tenant(owner, (tx) =>
      tx.execute(sql`
        insert into chat_messages (id, org_id, user_id, identity_id, conversation_id, channel, account, direction,
          kind, text, payload, platform_message_id, search_due, sent_at, archived_at)
        select (lpad(to_hex(ms), 12, '0') || '70008' || substr(md5(${userId}::text || n), 1, 15))::uuid,
          ${owner.orgId}::uuid, ${userId}::uuid, ${identityId}::uuid, '5000000001', 'telegram', 'main',
          case n % 2 when 0 then 'inbound' else 'outbound' end, 'text', body,
          ('{"message_id":' || n || ',"date":' || ms / 1000 || ',"chat":{"id":5000000001,"type":"private",'
            || '"first_name":"Ana"},"from":{"id":5000000001,"is_bot":false,"first_name":"Ana"},"text":"'
            || body || '"}')::json,
          ${userId}::text || '/' || n, false, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
        from (
          select n, ${FIRST_MESSAGE}::bigint + n * ${MINUTE}::bigint as ms,
            'message ' || n || repeat(' about the oat milk order', (n % 9)::int) as body
          from generate_series(${from}::bigint, ${to}::bigint) n
        ) messages`),
    );
    if (rows > BATCH) say(`  ${count(to)} of ${count(rows)} messages`);
  }
}

/** Leaves the database as a server that has run for a while: statistics, visibility and no dirty pages. */
export async function settle({ database }: Services): Promise<void> {
  await database.maintain("vacuum (analyze)");
  await database.maintain("checkpoint");
}
