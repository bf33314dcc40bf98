import { sql } from "drizzle-orm";
import { isUnavailable } from "../db/faults.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { UpstashClient } from "./upstash-client.ts";
import { checkedNamespace, documentIdOf, vectorIdsOf } from "./upstash-namespace.ts";

/** A fetch takes at most 1,000 ids, and a document has up to four. */
const BATCH = 200;

type Deletion = {
  readonly id: string;
  readonly org_id: string;
  readonly namespace: string;
  readonly document_id: string;
};

/** Deletes elsewhere what is deleted here, and forgets a deletion only once the vector no longer answers. */
export class UpstashDeletions {
  readonly #client: UpstashClient;
  readonly #transactions: Transactions;

  constructor(client: UpstashClient, transactions: Transactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  /**
   * Goes once through what is due.
   *
   * @returns how many are gone, and how many have to be tried again: they still answered, or nothing did
   */
  async run(signal: AbortSignal): Promise<{ deleted: number; waiting: number }> {
    let deleted = 0;
    let waiting = 0;
    let after = "0";
    while (!signal.aborted) {
      const rows = await this.#transactions.system("vector index", (tx) => due(after, tx));
      const last = rows.at(-1);
      if (!last) break;
      after = last.id;
      for (const [namespace, of] of Map.groupBy(rows, (row) => row.namespace)) {
        try {
          const gone = await this.#delete(namespace, of);
          deleted += gone;
          waiting += of.length - gone;
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          // The next run, in a minute, is the retry: what is due is in the database.
          return { deleted, waiting: waiting + of.length };
        }
      }
    }
    return { deleted, waiting };
  }

  async #delete(name: string, rows: readonly Deletion[]): Promise<number> {
    const namespace = checkedNamespace(name);
    const ids = rows.flatMap((row) => vectorIdsOf(row.document_id));
    await this.#client.use((index) => index.namespace(namespace).delete(ids));
    const found = await this.#client.use((index) => index.namespace(namespace).fetch(ids));
    const left = new Set(found.flatMap((vector) => (vector ? [documentIdOf(vector.id)] : [])));
    const gone = rows.filter((row) => !left.has(row.document_id));
    const orgId = rows[0]?.org_id;
    if (gone.length > 0 && orgId !== undefined) {
      await this.#transactions.tenant({ orgId }, (tx) => settle(orgId, gone, tx));
    }
    return gone.length;
  }
}

async function due(after: string, tx: Tx): Promise<Deletion[]> {
  const rows = await tx.execute<Deletion>(sql`
    select id::text as id, org_id, namespace, document_id from vector_deletions
    where id > ${after}::bigint order by id limit ${BATCH}`);
  return [...rows];
}

/**
 * A document that was made again under the same id has lost its new vectors with the old ones: it gets others, unless it
 * is archived and has none. Its namespace stays noted, because they may be on their way already.
 */
async function settle(orgId: string, rows: readonly Deletion[], tx: Tx): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const documents = rows.map((row) => row.document_id);
  await tx.execute(sql`
    with again as (
      update search_documents set model_id = null
      where org_id = ${orgId} and id in ${documents} returning scope_id)
    update search_scopes set embed_due = true
    where org_id = ${orgId} and not archived and id in (select scope_id from again)`);
  await tx.execute(sql`delete from vector_deletions where org_id = ${orgId} and id in ${ids}`);
}
