import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import type { Tx } from "../src/db/tenant.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import type { Services } from "./services.ts";
import { count } from "./table.ts";

/** As many as the embedded database inserts in some seconds, so that an interrupt is heard. */
const BATCH = 10_000;
const WORDS_PER_FACT = 12;
/** Of one language's everyday use; the nth word is as frequent as `VOCABULARY × share³` makes it, about as in texts. */
const VOCABULARY = 8_000;
const DIMENSIONS = 384;
/** Vectors lie around so many centres, because those of texts lie in groups too. */
const CENTRES = 200;

/** Facts of orgs that know nothing of each other, with words, vectors and statistics as if each had been remembered. */
export interface Population {
  readonly orgs: number;
  readonly factsPerOrg: number;
}

/** A word as analysis leaves it: with a digit in it nothing is a stem. */
function word(n: number): string {
  return `w${n}`;
}

/** The words of queries: from frequent to rare. */
export function queryWords(n: number): string {
  const ranks = [40, 170, 620, 1500, 3100, 5200];
  return ranks.map((rank) => word(rank + (n % 37))).join(" ");
}

/** @returns who acts for each org */
export async function seedFacts(
  { database, orgs }: Services,
  { orgs: orgCount, factsPerOrg }: Population,
  modelId: number,
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
  const orgsAtOnce = Math.max(1, Math.floor(BATCH / factsPerOrg));
  const step = Math.min(BATCH, factsPerOrg);
  for (let at = 0; at < principals.length; at += orgsAtOnce) {
    const some = principals.slice(at, at + orgsAtOnce).map(({ orgId }) => orgId);
    for (let from = 1; from <= factsPerOrg; from += step) {
      signal.throwIfAborted();
      const to = Math.min(factsPerOrg, from + step - 1);
      await transactions.system("operator", (tx) => insert(some, from, to, modelId, tx));
    }
    say(
      `  ${count(Math.min(at + orgsAtOnce, orgCount) * factsPerOrg)} of ${count(orgCount * factsPerOrg)} facts`,
    );
  }
  return principals;
}

/** Facts numbered `from` to `to` of each org: rows, documents, words and vectors, in four statements. */
async function insert(
  orgIds: readonly string[],
  from: number,
  to: number,
  modelId: number,
  tx: Tx,
): Promise<void> {
  const ids = `{${orgIds.join(",")}}`;
  const facts = sql`
    unnest(${ids}::uuid[]) as org(id) cross join generate_series(${from}::bigint, ${to}::bigint) n
    cross join lateral (select (substr(md5(org.id::text || n), 1, 12) || '7000' || '8000'
      || substr(md5(n || org.id::text), 1, 12))::uuid as id) fact`;
  const words = sql`(
    select string_agg('w' || term, ' ') from (
      select floor(power(${random(sql`n * 31 + place`, sql`org.id`)}, 3) * ${VOCABULARY}) as term
      from generate_series(1, ${WORDS_PER_FACT}) place) picked)`;
  await tx.execute(sql`
    insert into org_facts (id, org_id, agent_id, key, value, search_text, confidence, tags, tier, half_life_days,
      source_message_id, written_by, observed_at, created_at, consolidated_at, claim_confidence, claim_tags,
      claim_tier, claim_half_life_days, last_confirmed_at, fades_at)
    select fact.id, org.id, 'atlas', 'note.n' || n, to_json(words.text), words.text, 0.8, '{}',
      case n % 50 when 0 then 'core' else 'preference' end, 365, 'seed' || n, 'bench',
      now() - n * interval '1 minute', now() - interval '1 day', now(), 0.8, '{}',
      case n % 50 when 0 then 'core' else 'preference' end, 365, now() - n * interval '1 minute',
      now() + interval '700 days'
    from ${facts} cross join lateral (select ${words} as text) words`);
  await tx.execute(sql`
    insert into search_scopes (org_id, kind, agent_id, archived, documents, length, context_length)
    select id, 'org', 'atlas', false, ${to - from + 1}, ${(to - from + 1) * WORDS_PER_FACT},
      ${(to - from + 1) * WORDS_PER_FACT}
    from unnest(${ids}::uuid[]) as org(id)
    on conflict on constraint search_scopes_scope do update set
      documents = search_scopes.documents + excluded.documents, length = search_scopes.length + excluded.length,
      context_length = search_scopes.context_length + excluded.context_length`);
  await tx.execute(sql`
    insert into search_documents (id, org_id, scope_id, org_fact_id, length, context_length, tokens, text_hash,
      words_hash, model_id)
    select f.id, f.org_id, s.id, f.id, ${WORDS_PER_FACT}, ${WORDS_PER_FACT}, 60, '', '', ${modelId}
    from ${facts} join org_facts f on f.id = fact.id
    join search_scopes s on s.org_id = f.org_id and s.kind = 'org' and s.agent_id = 'atlas' and not s.archived`);
  await tx.execute(sql`
    insert into search_postings (scope_id, term, document_id, org_id, frequency, context_frequency, length, context_length)
    select s.id, term, f.id, f.org_id, count(*), count(*), ${WORDS_PER_FACT}, ${WORDS_PER_FACT}
    from ${facts} join org_facts f on f.id = fact.id
    join search_scopes s on s.org_id = f.org_id and s.kind = 'org' and s.agent_id = 'atlas' and not s.archived
    cross join lateral regexp_split_to_table(f.value #>> '{}', ' ') as term
    group by s.id, term, f.id, f.org_id`);
  await tx.execute(sql`
    insert into embeddings (document_id, model_id, part, org_id, scope_id, v)
    select d.id, ${modelId}, 0, d.org_id, d.scope_id, (
      select array_agg(${random(sql`i * 7`, sql`n % ${CENTRES}::bigint`)} - 0.5
        + 0.6 * (${random(sql`i * 11 + n`, sql`org.id`)} - 0.5) order by i)::real[]::vector
      from generate_series(1, ${DIMENSIONS}) i)
    from ${facts} join search_documents d on d.id = fact.id`);
}

/** 0 to 1, the same for the same arguments on every database. */
function random(n: ReturnType<typeof sql>, seed: ReturnType<typeof sql>) {
  return sql`((hashint8extended((${n})::bigint, hashtextextended((${seed})::text, 0)) & 1048575) / 1048576.0::float8)`;
}
