import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import type { VectorHit } from "./index.ts";

/** Rows in memory at a time: of 1,536 numbers each, some 25 MB on their way. */
const PAGE = 2_000;
/** Comparing so many takes a third of a second and the newest matter most; what is older is found by its words. */
const MOST = 20_000;

interface ArraySearch {
  readonly orgId: string;
  readonly scopeIds: readonly number[];
  readonly modelId: number;
}

/** What a PostgreSQL without pgvector has to offer: the newest vectors of the scopes, compared here one by one. */
export async function searchArrays(
  { orgId, scopeIds, modelId }: ArraySearch,
  vector: Float32Array,
  tx: Tx,
): Promise<VectorHit[]> {
  const hits: VectorHit[] = [];
  let before = sql``;
  while (hits.length < MOST) {
    const rows = await tx.execute<{ document_id: string; part: number; v: Buffer }>(sql`
      select document_id, part, array_send(v) as v from embeddings
      where org_id = ${orgId} and scope_id in ${scopeIds} and model_id = ${modelId} ${before}
      order by document_id desc, part desc limit ${PAGE}`);
    for (const row of rows) {
      hits.push({ documentId: row.document_id, cosine: cosineOf(vector, row.v) });
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    before = sql`and (document_id, part) < (${last.document_id}::uuid, ${last.part}::smallint)`;
  }
  return hits;
}

/**
 * With PostgreSQL's binary form of `real[]`: five integers, then each number after its length, in network order. Ten
 * times faster than reading its text.
 */
function cosineOf(a: Float32Array, sent: Buffer): number {
  let dot = 0;
  let squareA = 0;
  let squareB = 0;
  for (let at = 0, offset = 24; at < a.length; at++, offset += 8) {
    const x = a[at] as number;
    const y = sent.readFloatBE(offset);
    dot += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  return dot / Math.sqrt(squareA * squareB);
}
