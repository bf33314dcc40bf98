import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { Tx } from "../db/tenant.ts";
import { storageOf } from "./embeddings-table.ts";

/** A scope of more documents is searched through an index. Below, comparing with each is as fast and misses nothing. */
export const LARGE = 20_000;
/**
 * The embedded database has one connection, and making an index holds everybody up, 0.8 ms a vector: it is made before
 * it is needed, in some seconds. Not sooner, because each vector that comes later costs it ten milliseconds more.
 */
const LARGE_SOON = 10_000;
/** What pgvector can index of a `vector` and of a `halfvec`, which the embedded database computes too slowly. */
const MOST_DIMENSIONS = 2_000;
const MOST_HALF_DIMENSIONS = 4_000;

const NAME = /^embeddings_hnsw_(\d+)_(\d+)$/;

/**
 * The order that an index has: the same expression in the query and in the index.
 *
 * @returns undefined for vectors too long for an index
 */
export function approximate(
  dimensions: number,
  kind: Database["kind"],
): ((query: string) => SQL) | undefined {
  const type = typeOf(dimensions, kind);
  const typed = type === undefined ? undefined : sql.raw(type);
  return typed ? (query) => sql`(v::${typed}) <=> ${query}::${typed}` : undefined;
}

function typeOf(dimensions: number, kind: Database["kind"]): string | undefined {
  if (!Number.isInteger(dimensions)) return undefined;
  if (dimensions <= MOST_DIMENSIONS) return `vector(${dimensions})`;
  const hasHalf = kind === "postgres" && dimensions <= MOST_HALF_DIMENSIONS;
  return hasHalf ? `halfvec(${dimensions})` : undefined;
}

type Place = { readonly model_id: number; readonly scope_id: number };
type Candidate = Place & { readonly dimensions: number };
type Existing = { readonly name: string; readonly valid: boolean };

/** Gives each large scope an index of its own: one over all orgs would leave most of a small one's vectors out. */
export class HnswIndexes {
  readonly #database: Pick<Database, "kind" | "transactions" | "maintain">;
  /** More documents than that, and a scope gets an index; with less than half of them it loses it. */
  readonly #threshold: number;

  constructor(
    database: Pick<Database, "kind" | "transactions" | "maintain">,
    threshold = database.kind === "embedded" ? LARGE_SOON : LARGE,
  ) {
    this.#database = database;
    this.#threshold = threshold;
  }

  /** Makes and drops what is due; run by one process at a time. A build that was cut short is made again. */
  async maintain(signal: AbortSignal): Promise<{ made: number; dropped: number }> {
    const { kind, transactions } = this.#database;
    const concurrently = kind === "postgres" ? "concurrently " : "";
    const due = await transactions.system("vector index", (tx) => this.#due(tx));
    for (const name of due.drop) {
      await this.#database.maintain(`drop index ${concurrently}if exists ${name}`);
    }
    let made = 0;
    for (const { model_id, scope_id, dimensions } of due.make) {
      if (signal.aborted) break;
      const type = typeOf(dimensions, kind);
      if (!type) continue;
      const [base] = type.split("(");
      await this.#database.maintain(
        `create index ${concurrently}if not exists ${nameOf({ model_id, scope_id })} on embeddings
          using hnsw ((v::${type}) ${base}_cosine_ops)
          where model_id = ${model_id}::smallint and scope_id = ${scope_id}::bigint`,
      );
      made++;
    }
    return { made, dropped: due.drop.length };
  }

  async #due(tx: Tx): Promise<{ make: Candidate[]; drop: string[] }> {
    const storage = await storageOf(tx);
    if (storage?.kind !== "vector" || !storage.indexable) return { make: [], drop: [] };
    const existing = await tx.execute<Existing>(sql`
      select c.relname as name, i.indisvalid as valid
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = 'embeddings'::regclass and c.relname like 'embeddings\_hnsw\_%'`);
    const keep = await this.#larger(Math.floor(this.#threshold / 2), tx);
    const want = await this.#larger(this.#threshold, tx);
    const kept = new Set(keep.map(nameOf));
    const drop = existing
      .filter(({ name, valid }) => NAME.test(name) && (!valid || !kept.has(name)))
      .map(({ name }) => name);
    const there = new Set(existing.map(({ name }) => name).filter((name) => !drop.includes(name)));
    return { make: want.filter((place) => !there.has(nameOf(place))), drop };
  }

  /** Scopes with more vectors of a model in use. What `search_scopes` counts leaves few to be counted. */
  async #larger(than: number, tx: Tx): Promise<Candidate[]> {
    const rows = await tx.execute<Candidate>(sql`
      select m.id as model_id, s.id::int8 as scope_id, m.dimensions
      from search_scopes s cross join embedding_models m
      where s.documents > ${than} and m.vector_index = 'postgres' and m.state <> 'retired'
        and (select count(*) from (
          select 1 from embeddings e where e.org_id = s.org_id and e.scope_id = s.id and e.model_id = m.id
          limit ${than + 1}) as counted) > ${than}
      order by m.id, s.id`);
    return rows
      .map((row) => ({ ...row, scope_id: Number(row.scope_id) }))
      .filter(({ dimensions }) => typeOf(dimensions, this.#database.kind));
  }
}

function nameOf({ model_id, scope_id }: Place): string {
  return `embeddings_hnsw_${model_id}_${scope_id}`;
}
