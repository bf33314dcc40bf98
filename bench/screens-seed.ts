import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import type { Tx } from "../src/db/tenant.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import { seedPerson } from "./seed.ts";
import type { Services } from "./services.ts";
import { count } from "./table.ts";
import type { VocabularyWord } from "./vocabulary.ts";

const BATCH = 20_000;
const WORDS_PER_MESSAGE = 6;
const LATEST = Date.parse("2026-11-01T00:00:00Z");
const MINUTE = 60_000;
/** The first has half of all messages, and so on: one large archive, some middling ones, many small ones. */
const SHARES = [0.5, 0.2, 0.1];
const PEOPLE = 1_000;
/** One fact in so many is contested, and one is watched. */
const CONTESTED_EVERY = 50;
const WATCHED_EVERY = 100;
const DUPLICATES = 1_000;
const AUDITED = 50_000;

/** Whom and what the screens are asked for. */
export interface Seeded {
  readonly userId: string;
  readonly messageId: string;
  readonly factId: string;
}

/**
 * Fills an org that has its facts with what the page shows beside them: people, messages that are searched, contests,
 * watched facts, possible duplicates, an audit trail.
 */
export async function seedScreens(
  services: Services,
  owner: Principal,
  messages: number,
  words: readonly VocabularyWord[],
  { say, signal }: Pick<BenchmarkOptions, "say" | "signal">,
): Promise<Seeded> {
  const { transactions } = services.database;
  const { orgId } = owner;
  const people: { userId: string; identityId: string | null }[] = [];
  for (let n = 0; n < PEOPLE; n++) {
    people.push(await seedPerson(services, owner, `telegram:${5_000_000_000 + n}`));
  }
  const others = Math.ceil(
    (messages * (1 - SHARES.reduce((a, b) => a + b, 0))) / (PEOPLE - SHARES.length),
  );
  const stems = words.map(({ word, stem }) => ({ word, stem }));
  let done = 0;
  for (const [n, { userId, identityId }] of people.entries()) {
    const rows = Math.round(messages * (SHARES[n] ?? 0)) || others;
    for (let from = 1; from <= rows; from += BATCH) {
      signal.throwIfAborted();
      const to = Math.min(rows, from + BATCH - 1);
      // A purpose with time: no request waits for it.
      await transactions.system("vector index", (tx) =>
        insertMessages({ orgId, userId, identityId }, from, to, stems, tx),
      );
      done += to - from + 1;
      if (rows > others || n % 200 === 0) say(`  ${count(done)} of ${count(messages)} messages`);
    }
  }
  await transactions.system("vector index", (tx) => insertRest(orgId, tx));
  const [first] = people;
  const [found] = await transactions.system("operator", (tx) =>
    tx.execute<{ message: string; fact: string }>(sql`
      select (select id from chat_messages where user_id = ${first?.userId}::uuid
          order by sent_at desc, id desc offset 1000 limit 1) as message,
        (select id from org_facts where org_id = ${orgId}::uuid and contested limit 1) as fact`),
  );
  if (!first || !found) throw new Error("nothing was seeded");
  return { userId: first.userId, messageId: found.message, factId: found.fact };
}

async function insertMessages(
  { orgId, userId, identityId }: { orgId: string; userId: string; identityId: string | null },
  from: number,
  to: number,
  words: readonly { word: string; stem: string }[],
  tx: Tx,
): Promise<void> {
  // What is inserted refers to what is inserted with it: looking each reference up would take most of the time.
  await tx.execute(
    sql`select set_config('session_replication_role', 'replica', true), set_config('work_mem', '64MB', true)`,
  );
  const id = sql`(lpad(to_hex(${LATEST}::bigint - n * ${MINUTE}::bigint), 12, '0') || '70008'
    || substr(md5(n || ${userId}::text), 1, 15))::uuid`;
  await tx.execute(sql`
    create temporary table drawn on commit drop as
    select ${id} as id, n, w.word, w.stem
    from generate_series(${from}::bigint, ${to}::bigint) n
      cross join generate_series(1, ${WORDS_PER_MESSAGE}) place
      join json_to_recordset(${JSON.stringify(words.map((word, rank) => ({ ...word, rank })))}::json)
        as w(rank int, word text, stem text)
        on w.rank = (hashint8extended(n * 31 + place, hashtextextended(${userId}::text, 0)) & 1048575) % ${words.length}`);
  const said = sql`to_timestamp((${LATEST}::bigint - n * ${MINUTE}::bigint) / 1000.0)`;
  await tx.execute(sql`
    insert into chat_messages (id, org_id, user_id, identity_id, conversation_id, channel, account, direction, kind,
      text, payload, platform_message_id, search_due, sent_at, archived_at)
    select id, ${orgId}::uuid, ${userId}::uuid, ${identityId}::uuid, ${userId}::text, 'telegram', 'main',
      case n % 2 when 0 then 'inbound' else 'outbound' end, 'text', body,
      json_build_object('message_id', n, 'text', body), ${userId}::text || '/' || n, false, ${said}, ${said}
    from (select id, n, string_agg(word, ' ') as body from drawn group by id, n) message`);
  await tx.execute(sql`
    insert into search_scopes (org_id, kind, user_id, agent_id, archived, documents, length, context_length)
    values (${orgId}::uuid, 'message', ${userId}::uuid, '', false, ${to - from + 1},
      ${(to - from + 1) * WORDS_PER_MESSAGE}, ${(to - from + 1) * WORDS_PER_MESSAGE})
    on conflict on constraint search_scopes_scope do update set
      documents = search_scopes.documents + excluded.documents, length = search_scopes.length + excluded.length,
      context_length = search_scopes.context_length + excluded.context_length`);
  const scope = sql`(select id from search_scopes where org_id = ${orgId}::uuid and kind = 'message'
    and user_id = ${userId}::uuid and store_id is null)`;
  await tx.execute(sql`
    insert into search_documents (id, org_id, scope_id, message_id, length, context_length, tokens, text_hash, words_hash)
    select distinct id, ${orgId}::uuid, ${scope}, id, ${WORDS_PER_MESSAGE}::int, ${WORDS_PER_MESSAGE}::int, 20, '', '' from drawn`);
  await tx.execute(sql`
    insert into search_postings (scope_id, term, document_id, org_id, frequency, context_frequency, length, context_length)
    select ${scope}, stem, id, ${orgId}::uuid, count(*), count(*), ${WORDS_PER_MESSAGE}::int, ${WORDS_PER_MESSAGE}::int
    from drawn group by stem, id`);
}

async function insertRest(orgId: string, tx: Tx): Promise<void> {
  await tx.execute(sql`select set_config('session_replication_role', 'replica', true)`);
  const numbered = sql`split_part(key, 'n', 3)::int`;
  await tx.execute(sql`
    update org_facts set contested = true
    where org_id = ${orgId}::uuid and ${numbered} % ${CONTESTED_EVERY} = 0`);
  await tx.execute(sql`
    insert into org_facts (id, org_id, agent_id, key, value, search_text, confidence, tags, tier, half_life_days,
      source_message_id, written_by, observed_at, created_at, consolidated_at, contested, claim_confidence, claim_tags,
      claim_tier, claim_half_life_days, last_confirmed_at, fades_at)
    select gen_random_uuid(), org_id, agent_id, key, '"something else"'::json, 'something else', confidence, tags, tier,
      half_life_days, 'other' || ${numbered}, written_by, observed_at + interval '30 seconds', created_at,
      consolidated_at, true, claim_confidence, claim_tags, claim_tier, claim_half_life_days,
      last_confirmed_at + interval '30 seconds', fades_at
    from org_facts where org_id = ${orgId}::uuid and contested`);
  await tx.execute(sql`
    update org_facts set key = 'watch.example_com.' || key, tags = '{veille}', claim_tags = '{veille}'
    where org_id = ${orgId}::uuid and ${numbered} % ${WATCHED_EVERY} = 1`);
  await tx.execute(sql`
    insert into possible_duplicates (org_id, first_id, second_id, likeness, found_at)
    select ${orgId}::uuid, least(id, next), greatest(id, next), 0.9, now()
    from (select id, lead(id) over (order by id) as next from org_facts where org_id = ${orgId}::uuid) pairs
    where next is not null limit ${DUPLICATES}`);
  await tx.execute(sql`
    insert into audit_events (id, org_id, at, actor, action, subject_kind, subject_id)
    select gen_random_uuid(), ${orgId}::uuid, now() - n * interval '1 minute', 'bench', 'user.approved', 'user', n::text
    from generate_series(1, ${AUDITED}) n`);
  await tx.execute(sql`
    insert into memory_events (id, org_id, kind, scope, fact_id, actor, agent_id, new_value, at)
    select gen_random_uuid(), org_id, 'created', 'org', id, 'bench', agent_id, value, observed_at
    from org_facts where org_id = ${orgId}::uuid`);
}
