import { and, eq, type SQL, sql } from "drizzle-orm";
import { searchScopes } from "../db/schema/search.ts";
import type { Tx } from "../db/tenant.ts";
import { type FactScope, ownerOf } from "../facts/row.ts";
import { sqlArray } from "../sql-array.ts";
import { relatedWords } from "./related-words.ts";
import type { SearchScope } from "./scope.ts";

const K1 = 1.2;
const B = 0.75;
/** A term that more documents have than this share says nothing about which of them is meant. */
const COMMON_SHARE = 0.1;
/** Up to so many documents every term counts: it is read in a millisecond, and without it recall@10 of long chats falls by .09. */
const COMMON_FLOOR = 2_000;
/** Index entries that one search reads beyond counting: some 10 ms of work. */
const READ = 10_000;
/** Related words of one query that are looked up, the nearest ones. */
const RELATED = 16;
/** A related word that more documents have is no hint at any of them. */
const RELATED_COMMON = 500;
/** Index entries of related words that one search reads beyond counting. */
const RELATED_READ = 2_000;
/** Scores are sums of whole numbers: they come out the same in whatever order a database adds them. */
const UNITS = 1_000_000;

/** What a query's words score on a document: in its own text, and with the end of the message before. */
interface Score {
  readonly own: number;
  readonly context: number;
}

interface TextHit extends Score {
  readonly documentId: string;
  /** What words score that mean nearly what a term of the query does that its own text lacks. */
  readonly related: number;
}

export interface Matches {
  /** Best `own + context + related` first, ties by id. */
  readonly hits: readonly TextHit[];
  /** What a document would score that repeats every term of the query for ever: the terms' weights × (k1 + 1). */
  readonly attainable: Score;
  /** The terms that were searched, and in how many documents each is; those of most documents are left out. */
  readonly terms: readonly { readonly term: string; readonly documents: number }[];
}

const NO_MATCHES: Matches = { hits: [], attainable: { own: 0, context: 0 }, terms: [] };

/** A searched term, in how many documents it is, and what it weighs there. */
interface ChosenTerm extends Score {
  readonly term: string;
  readonly found: number;
}

/** Reads the index. */
export class MatchRepository {
  /** The scopes that have documents: these pockets of facts, live and archived, and the messages of the person among them. */
  async scopes(
    scopes: readonly FactScope[],
    agents: readonly string[],
    tx: Tx,
  ): Promise<SearchScope[]> {
    const [first] = scopes;
    if (!first) return [];
    const { orgId } = first;
    const wanted = scopes.map((scope) => scopeIs(scope, agents));
    const rows = await tx
      .select({
        id: searchScopes.id,
        orgId: searchScopes.orgId,
        kind: searchScopes.kind,
        storeId: searchScopes.storeId,
        userId: searchScopes.userId,
        agentId: searchScopes.agentId,
        archived: searchScopes.archived,
        embedMessages: searchScopes.embedMessages,
        documents: total(orgId, sql`count(*)`, sql`documents`),
        length: total(orgId, sql`coalesce(sum(d.length), 0)`, sql`length`),
        contextLength: total(orgId, sql`coalesce(sum(d.context_length), 0)`, sql`context_length`),
      })
      .from(searchScopes)
      .where(and(eq(searchScopes.orgId, orgId), sql`(${sql.join(wanted, sql` or `)})`))
      .orderBy(searchScopes.id);
    return rows.filter(({ documents }) => documents > 0);
  }

  /**
   * The documents that score best for these terms, all scopes as one collection of documents. Source of the formula:
   * Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", with the weight
   * ln(1 + (N - n + 0.5) / (n + 0.5)) that is never negative. Terms of more than a tenth of the documents are left out,
   * unless all are; then, and beyond a bound of work, the rarest count.
   *
   * A term that a document's own text lacks scores by the best of its related words there: as that word would with the lower
   * weight of the two, times how near they are.
   */
  async match(
    scopes: readonly SearchScope[],
    terms: readonly string[],
    limit: number,
    tx: Tx,
  ): Promise<Matches> {
    const [first] = scopes;
    const documents = scopes.reduce((sum, scope) => sum + scope.documents, 0);
    if (!first || documents === 0 || terms.length === 0) return NO_MATCHES;
    const average = (length: "length" | "contextLength") =>
      Math.max(
        1,
        scopes.reduce((sum, scope) => sum + scope[length], 0),
      ) / documents;
    const common = Math.max(COMMON_FLOOR, Math.floor(documents * COMMON_SHARE));
    const weight = (found: SQL) =>
      sql`round(ln(1 + (${documents}::float8 - least(${found}, ${documents}::float8) + 0.5)
        / (least(${found}, ${documents}::float8) + 0.5)) * ${UNITS}) / ${UNITS}`;
    const score = (weight: SQL, frequency: SQL, length: SQL, average: number) =>
      sql`round(${weight} * ${frequency} * ${K1 + 1}::float8
        / (${frequency} + ${K1}::float8 * (${1 - B}::float8 + ${B}::float8 * ${length} / ${average}::float8)) * ${UNITS})::int`;
    const scoreHere = (weight: SQL) =>
      score(weight, sql`p.frequency`, sql`p.length`, average("length"));
    const contextScore = score(
      sql`context_weight`,
      sql`p.context_frequency`,
      sql`p.context_length`,
      average("contextLength"),
    );
    const related = await nearest(terms);
    const [row] = await tx.execute<{ hits: string | null; terms: string | null }>(sql`
      with scope as materialized (
        select id from unnest(${sqlArray(scopes.map(({ id }) => id))}::bigint[]) as scope(id)),
      term as materialized (
        select term from json_array_elements_text(${JSON.stringify(terms)}::json) as term(term)),
      counted as materialized (
        select term, sum(found)::float8 as found, sum(own)::float8 as own
        from term cross join scope cross join lateral (
          select count(*) as found, count(*) filter (where entry.frequency > 0) as own
          from (
            select p.frequency from search_postings p
            where p.org_id = ${first.orgId} and p.scope_id = scope.id and p.term = term.term
            limit ${common + 1}) entry) entries
        group by term),
      ranked as (
        select term, found, ${weight(sql`own`)} as own_weight, ${weight(sql`found`)} as context_weight,
          row_number() over rarest as place, sum(found) over rarest as read
        from counted window rarest as (order by found, term collate "C" rows unbounded preceding)),
      chosen as materialized (
        select term, place, found, own_weight, context_weight from ranked
        where place = 1 + (select count(*) from counted where found = 0)
          or (found <= ${common} and read <= ${READ})),
      entry as materialized (
        select chosen.place, p.document_id, p.frequency, ${scoreHere(sql`own_weight`)} as own, ${contextScore} as context
        from chosen cross join scope cross join lateral (
          select p.document_id, p.frequency, p.context_frequency, p.length, p.context_length from search_postings p
          where p.org_id = ${first.orgId} and p.scope_id = scope.id and p.term = chosen.term
          order by p.document_id desc limit ${READ}) p),
      near as materialized (
        select chosen.place, near.word, near.weight / 100 as nearness, chosen.own_weight
        from json_to_recordset(${JSON.stringify(related)}::json) as near(term text, word text, weight float8)
        join chosen on chosen.term = near.term and chosen.found <= ${Math.min(common, READ)}),
      near_counted as (
        select word, sum(found)::float8 as found, sum(own)::float8 as own
        from (select distinct word from near) word cross join scope cross join lateral (
          select count(*) as found, count(*) filter (where entry.frequency > 0) as own
          from (
            select p.frequency from search_postings p
            where p.org_id = ${first.orgId} and p.scope_id = scope.id and p.term = word.word
            limit ${RELATED_COMMON + 1}) entry) entries
        group by word),
      near_ranked as (
        select word, ${weight(sql`own`)} as word_weight, sum(found) over rarest as read
        from near_counted where own > 0 and found <= ${RELATED_COMMON}
        window rarest as (order by found, word collate "C" rows unbounded preceding)),
      near_chosen as materialized (
        select word, word_weight from near_ranked where read <= ${RELATED_READ}),
      near_entry as materialized (
        select near_chosen.word, near_chosen.word_weight, p.document_id, p.frequency, p.length
        from near_chosen cross join scope cross join lateral (
          select p.document_id, p.frequency, p.length from search_postings p
          where p.org_id = ${first.orgId} and p.scope_id = scope.id and p.term = near_chosen.word
            and p.frequency > 0
          limit ${RELATED_COMMON}) p),
      instead as (
        select near.place, p.document_id,
          max(${scoreHere(sql`(near.nearness * least(near.own_weight, p.word_weight))`)}) as related
        from near join near_entry p on p.word = near.word
        group by near.place, p.document_id),
      hit as (
        select document_id, sum(own) as own, sum(context) as context, sum(related) as related
        from (
          select document_id, own, context, 0 as related from entry
          union all
          select document_id, 0, 0, related from instead
          where not exists (
            select from entry
            where entry.place = instead.place and entry.document_id = instead.document_id and entry.frequency > 0)) part
        group by document_id)
      select
        (select json_agg(json_build_object('term', term, 'found', found, 'own', own_weight, 'context', context_weight)
          order by term collate "C")::text from chosen) as terms,
        (select json_agg(json_build_object('id', document_id, 'own', own, 'context', context, 'related', related)
          order by own + context + related desc, document_id)::text
          from (select * from hit order by own + context + related desc, document_id limit ${limit}) best) as hits`);
    const chosen = JSON.parse(row?.terms ?? "[]") as ChosenTerm[];
    const hits = JSON.parse(row?.hits ?? "[]") as ({ readonly id: string } & Omit<
      TextHit,
      "documentId"
    >)[];
    return {
      hits: hits.map((hit) => ({
        documentId: hit.id,
        own: hit.own / UNITS,
        context: hit.context / UNITS,
        related: hit.related / UNITS,
      })),
      attainable: {
        own: chosen.reduce((sum, term) => sum + term.own, 0) * (K1 + 1),
        context: chosen.reduce((sum, term) => sum + term.context, 0) * (K1 + 1),
      },
      terms: chosen.map(({ term, found }) => ({ term, documents: found })),
    };
  }
}

/** The nearest related words of all these terms, ties in the order of the terms. */
async function nearest(terms: readonly string[]) {
  const relatedTo = await relatedWords();
  return terms
    .flatMap((term) => relatedTo(term).map(({ term: word, weight }) => ({ term, word, weight })))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, RELATED);
}

function scopeIs(scope: FactScope, agents: readonly string[]): SQL {
  const facts = sql`${searchScopes.agentId} in (
    select json_array_elements_text(${JSON.stringify(agents)}::json))`;
  switch (scope.name) {
    case "org":
      return sql`(kind = 'org' and ${facts})`;
    case "store":
      return sql`(kind = 'store' and store_id = ${ownerOf(scope)} and ${facts})`;
    case "user":
      return sql`(user_id = ${ownerOf(scope)} and (kind = 'message' or (kind = 'user' and ${facts})))`;
  }
}

/** As counted when it was last written, or now where documents were deleted since. */
function total(orgId: string, counted: SQL, stored: SQL) {
  return sql<number>`(case when recount_due then (
      select ${counted} from search_documents d
      where d.org_id = ${orgId} and d.scope_id = search_scopes.id)
    else ${stored} end)::float8`;
}
