import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import { sqlArray } from "../sql-array.ts";
import type { Storage } from "./embeddings-table.ts";
import { rounded, type VectorHit } from "./index.ts";

interface Found {
  readonly orgId: string;
  readonly scopeIds: readonly number[];
  readonly modelId: number;
  readonly storage: Storage;
}

/**
 * The same hits with what each has in common with all of them. Only the vectors of the hits are read again, never a scope;
 * of a document with several parts the first counts.
 */
export async function withCommon(
  { orgId, scopeIds, modelId, storage }: Found,
  hits: readonly VectorHit[],
  tx: Tx,
): Promise<VectorHit[]> {
  // Before 0.8 pgvector is not served with more than it always had: the plain search.
  const cannot = storage.kind === "vector" && !storage.indexable;
  if (hits.length === 0 || cannot) return [...hits];
  const ids = sqlArray(hits.map(({ documentId }) => documentId));
  const theirs = sql`from embeddings
    where org_id = ${orgId} and scope_id in ${scopeIds} and model_id = ${modelId} and part = 0
      and document_id = any(${ids}::uuid[])
    order by document_id`;
  const common = new Map<string, number>();
  if (storage.kind === "array") {
    const rows = await tx.execute<{ document_id: string; v: Buffer }>(
      sql`select document_id, array_send(v) as v ${theirs}`,
    );
    const directions = rows.map(({ v }) => directionOf(v));
    const mean = meanOf(directions);
    for (const [n, row] of rows.entries()) {
      const direction = directions[n] ?? new Float64Array();
      common.set(row.document_id, product(direction, mean));
    }
  } else {
    const rows = await tx.execute<{ document_id: string; common: number }>(sql`
      with found as materialized (select document_id, l2_normalize(v) as v ${theirs}),
      mean as materialized (select avg(v) as v from found)
      select document_id, -(found.v <#> mean.v) as common from found cross join mean`);
    for (const row of rows) common.set(row.document_id, row.common);
  }
  return hits.map((hit) => {
    const own = common.get(hit.documentId);
    return own === undefined ? hit : { ...hit, common: rounded(own) };
  });
}

/** Of length 1, from PostgreSQL's binary form of `real[]`: five integers, then each number after its length. */
function directionOf(sent: Buffer): Float64Array {
  const vector = Float64Array.from({ length: (sent.length - 20) / 8 }, (_, n) =>
    sent.readFloatBE(24 + n * 8),
  );
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function meanOf(vectors: readonly Float64Array[]): Float64Array {
  const mean = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) {
    for (let n = 0; n < mean.length; n++) mean[n] = (mean[n] ?? 0) + (vector[n] ?? 0);
  }
  return mean.map((sum) => sum / vectors.length);
}

function product(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);
}
