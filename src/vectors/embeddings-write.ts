import { sql } from "drizzle-orm";
import type { Tx } from "../db/tenant.ts";
import type { Storage } from "./embeddings-table.ts";
import type { VectorDocument } from "./index.ts";

interface Place {
  readonly orgId: string;
  readonly modelId: number;
  readonly storage: Storage;
}

/**
 * Puts vectors in the place of those that the documents have of the model. Locked meanwhile: a document that is deleted
 * before is skipped, one that is deleted after takes its vectors along. Its scope is its own, since it may have moved.
 */
export async function putVectors(
  { orgId, modelId, storage }: Place,
  documents: readonly VectorDocument[],
  tx: Tx,
): Promise<void> {
  const [type, open, close] =
    storage.kind === "array" ? ["real[]", "{", "}"] : ["vector", "[", "]"];
  const parts = documents.flatMap(({ documentId, parts }) =>
    parts.map((part, at) => ({ id: documentId, part: at, v: `${open}${part.join(",")}${close}` })),
  );
  await tx.execute(sql`
    with given as (
      select * from json_to_recordset(${JSON.stringify(parts)}::json) as g(id uuid, part smallint, v text)),
    found as (
      select id, scope_id from search_documents
      where org_id = ${orgId} and id in (select id from given) order by id for key share),
    counted as (select id, scope_id, count(*) as parts from given join found using (id) group by 1, 2),
    gone as (
      delete from embeddings e using counted c
      where e.org_id = ${orgId} and e.scope_id = c.scope_id and e.document_id = c.id
        and e.model_id = ${modelId} and e.part >= c.parts)
    insert into embeddings (org_id, scope_id, document_id, model_id, part, v)
    select ${orgId}::uuid, f.scope_id, id, ${modelId}::smallint, g.part, g.v::${sql.raw(type)}
    from given g join found f using (id) order by id, part
    on conflict (org_id, scope_id, document_id, model_id, part) do update set v = excluded.v`);
}
