import { vectorDeletions } from "../../src/db/schema/search.ts";
import { EmbeddingRepository } from "../../src/search/embedding-repository.ts";
import { PostgresVectorIndex } from "../../src/vectors/postgres.ts";
import type { TestApp } from "../support/app.ts";

const MODEL = { fingerprint: "a model", vectorIndex: "postgres" } as const;

/** Gives an org's facts vectors without a model, and notes one to be deleted elsewhere.  */
export async function seedVectors({ database }: TestApp, orgId: string, now: Date) {
  const { transactions } = database;
  const index = new PostgresVectorIndex(database);
  const models = new EmbeddingRepository();
  await index.prepare();
  const { model, due } = await transactions.system("operator", async (tx) => {
    const numbers = { dimensions: 2, floor: 0, mergeThreshold: 1 };
    const used = await models.use({ ...MODEL, ...numbers }, now, tx);
    return { model: used, due: await models.due(0, 1_000, tx) };
  });
  const scopes = due.filter((scope) => scope.orgId === orgId);
  const embedded: { id: string; textHash: string }[] = [];
  for (const scope of scopes) {
    const documents = await transactions.tenant(scope, (tx) =>
      models.batch(scope, model.id, 100, tx),
    );
    const parts = [Float32Array.of(1, 0)];
    const vectors = documents.map(({ id }) => ({ documentId: id, parts }));
    await index.store(scope, vectors, model.id);
    embedded.push(...documents);
    await transactions.tenant(scope, (tx) => models.note(scope, model.id, documents, tx));
  }
  const [scope] = scopes;
  if (!scope) throw new Error("not seeded");
  const deletion = { orgId, namespace: `facts:org:${orgId}`, documentId: orgId };
  await transactions.tenant(scope, (tx) => tx.insert(vectorDeletions).values(deletion));
  return { scope, model, embedded };
}
