import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import type { Tx } from "../src/db/tenant.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import type { Services } from "./services.ts";
import { count } from "./table.ts";
import { RANK, type VocabularyWord } from "./vocabulary.ts";

/** As many as the embedded database inserts in some seconds, so that an interrupt is heard. */
const BATCH = 10_000;
const WORDS_PER_FACT = 12;
/** Of a fact's line in a block: twelve words and their key. */
const TOKENS = 30;
const WORDS_AT_ONCE = 500;
const LATEST = Date.parse("2026-11-01T00:00:00Z");
const MINUTE = 60_000;

/** Facts of orgs that know nothing of each other, with words, vectors and statistics as if each had been remembered. */
export interface Population {
  readonly orgs: number;
  readonly factsPerOrg: number;
}

/**
 * Facts of twelve words drawn by their frequency, one a minute; a fact's vector is the sum of its words' vectors.
 *
 * @returns who acts for each org
 */
export async function seedFacts(
  { database, orgs }: Services,
  { orgs: orgCount, factsPerOrg }: Population,
  modelId: number,
  words: readonly VocabularyWord[],
  { say, signal }: Pick<BenchmarkOptions, "say" | "signal">,
): Promise<Principal[]> {
  const { transactions } = database;
  const principals: Principal[] = [];
  await transactions.system("operator", async (tx) => {
    for (let n = 0; n < orgCount; n++) {
      const org = await orgs.ensure(`latency-${orgCount}-${n}`, tx);
      principals.push({
        orgId: org.id,
        keyId: "bench",
        role: "owner",
        defaultAgent: "atlas",
        pins: {},
      });
    }
  });
  // A purpose with time: no request waits for it.
  await transactions.system("vector index", (tx) => keepWords(words, tx));
  const orgsAtOnce = Math.max(1, Math.floor(BATCH / factsPerOrg));
  const step = Math.min(BATCH, factsPerOrg);
  for (let at = 0; at < principals.length; at += orgsAtOnce) {
    const some = principals.slice(at, at + orgsAtOnce).map(({ orgId }) => orgId);
    for (let from = 1; from <= factsPerOrg; from += step) {
      signal.throwIfAborted();
      const to = Math.min(factsPerOrg, from + step - 1);
      await transactions.system("vector index", (tx) =>
        insert(some, from, to, { modelId, vocabulary: words.length }, tx),
      );
      say(
        `  ${count(at * factsPerOrg + some.length * to)} of ${count(orgCount * factsPerOrg)} facts`,
      );
    }
  }
  await transactions.system("operator", (tx) =>
    tx.execute(sql`drop table bench_words, bench_drawn`),
  );
  return principals;
}

/** The vocabulary, and a table for the words that a batch of facts draws from it. */
async function keepWords(words: readonly VocabularyWord[], tx: Tx): Promise<void> {
  await tx.execute(sql`
    create unlogged table bench_words (rank int primary key, word text not null, stem text not null, v vector not null)`);
  await tx.execute(sql`
    create unlogged table bench_drawn (org_id uuid not null, id uuid not null, n bigint not null, place int not null,
      rank int not null, word text not null, stem text not null)`);
  for (let from = 0; from < words.length; from += WORDS_AT_ONCE) {
    const some = words
      .slice(from, from + WORDS_AT_ONCE)
      .map(({ word, stem, vector }, n) => ({ rank: from + n, word, stem, v: `[${vector}]` }));
    await tx.execute(sql`
      insert into bench_words select * from json_to_recordset(${JSON.stringify(some)}::json)
        as w(rank int, word text, stem text, v vector)`);
  }
}

/** Facts numbered `from` to `to` of each org, the first the newest: rows, documents, words and vectors. */
async function insert(
  orgIds: readonly string[],
  from: number,
  to: number,
  { modelId, vocabulary }: { modelId: number; vocabulary: number },
  tx: Tx,
): Promise<void> {
  const ids = `{${orgIds.join(",")}}`;
  // What is inserted refers to what is inserted with it: looking each reference up would take most of the time.
  await tx.execute(
    sql`select set_config('session_replication_role', 'replica', true), set_config('work_mem', '64MB', true)`,
  );
  await tx.execute(sql`truncate bench_drawn`);
  await tx.execute(sql`
    insert into bench_drawn
    select drawn.org_id, drawn.id, drawn.n, drawn.place, w.rank, w.word, w.stem
    from (
      select org.id as org_id, n, place, (lpad(to_hex(${LATEST}::bigint - n * ${MINUTE}::bigint), 12, '0') || '70008'
          || substr(md5(n || org.id::text), 1, 15))::uuid as id,
        floor(${RANK.base}::float8 * power(${RANK.of(vocabulary)}::float8,
          (hashint8extended(n * 31 + place, hashtextextended(org.id::text, 0)) & 1048575) / 1048576.0::float8)
          - ${RANK.base}::float8)::int as rank
      from unnest(${ids}::uuid[]) as org(id) cross join generate_series(${from}::bigint, ${to}::bigint) n
        cross join generate_series(1, ${WORDS_PER_FACT}) place) drawn
    join bench_words w on w.rank = drawn.rank`);
  await tx.execute(sql`analyze bench_drawn`);
  const said = sql`to_timestamp((${LATEST}::bigint - n * ${MINUTE}::bigint) / 1000.0)`;
  const tier = sql`case n % 50 when 0 then 'core' else 'preference' end`;
  await tx.execute(sql`
    insert into org_facts (id, org_id, agent_id, key, value, search_text, confidence, tags, tier, half_life_days,
      source_message_id, written_by, observed_at, created_at, consolidated_at, claim_confidence, claim_tags,
      claim_tier, claim_half_life_days, last_confirmed_at, fades_at)
    select id, org_id, 'atlas', 'note.n' || n, to_json(words), words, 0.8, '{}', ${tier}, 365, 'seed' || n, 'bench',
      ${said}, ${said}, now(), 0.8, '{}', ${tier}, 365, ${said}, now() + interval '700 days'
    from (
      select org_id, id, n, string_agg(word, ' ' order by place) as words from bench_drawn group by org_id, id, n) fact
    order by org_id, id`);
  await tx.execute(sql`
    insert into search_scopes (org_id, kind, agent_id, archived, documents, length, context_length)
    select id, 'org', 'atlas', false, ${to - from + 1}, ${(to - from + 1) * WORDS_PER_FACT},
      ${(to - from + 1) * WORDS_PER_FACT}
    from unnest(${ids}::uuid[]) as org(id)
    on conflict on constraint search_scopes_scope do update set
      documents = search_scopes.documents + excluded.documents, length = search_scopes.length + excluded.length,
      context_length = search_scopes.context_length + excluded.context_length`);
  const scope = sql`join search_scopes s
    on s.org_id = f.org_id and s.kind = 'org' and s.agent_id = 'atlas' and not s.archived`;
  await tx.execute(sql`
    insert into search_documents (id, org_id, scope_id, org_fact_id, length, context_length, tokens, text_hash,
      words_hash, model_id)
    select f.id, f.org_id, s.id, f.id, ${WORDS_PER_FACT}, ${WORDS_PER_FACT}, ${TOKENS}, '', '', ${modelId}
    from (select distinct org_id, id from bench_drawn) f ${scope} order by s.id, f.id`);
  await tx.execute(sql`
    insert into search_postings (scope_id, term, document_id, org_id, frequency, context_frequency, length, context_length)
    select s.id, f.stem, f.id, f.org_id, count(*), count(*), ${WORDS_PER_FACT}, ${WORDS_PER_FACT}
    from bench_drawn f ${scope} group by s.id, f.stem, f.id, f.org_id order by s.id, f.stem collate "C", f.id`);
  await tx.execute(sql`
    insert into embeddings (document_id, model_id, part, org_id, scope_id, v)
    select f.id, ${modelId}, 0, f.org_id, s.id,
      (select l2_normalize(sum(w.v)) from bench_words w where w.rank = any(f.ranks))
    from (select org_id, id, array_agg(rank) as ranks from bench_drawn group by org_id, id) f ${scope}
    order by s.id, f.id`);
}
