import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { VectorScope } from "../../src/vectors/index.ts";
import { PostgresVectorIndex } from "../../src/vectors/postgres.ts";
import { onBothDatabases } from "../support/database.ts";
import { cosineOf, nearest, openSeeded, randomly, randomVector, type Seeded } from "./seeded.ts";

const D = 16;

onBothDatabases((engine) => {
  let seeded: Seeded;
  let index: PostgresVectorIndex;
  let notice: string | undefined;
  beforeAll(async () => {
    seeded = await openSeeded(engine);
    index = new PostgresVectorIndex(seeded.database);
    notice = await index.prepare();
  });
  afterAll(() => seeded.close());

  const one = (...values: number[]) => Float32Array.from({ length: D }, (_, at) => values[at] ?? 0);

  /** Vectors of documents that lie anywhere. */
  async function filled(scope: VectorScope, modelId: number, count: number, next = randomly(1)) {
    const ids = await seeded.newDocuments(scope, count);
    const documents = ids.map((documentId) => ({ documentId, parts: [randomVector(D, next)] }));
    for (let at = 0; at < count; at += 1_000) {
      await index.store(scope, documents.slice(at, at + 1_000), modelId);
    }
    return documents;
  }

  async function rowsOf(table: string, documentIds: readonly string[]): Promise<number> {
    const column = sql.raw(table === "embeddings" ? "document_id" : "id");
    const [row] = await seeded.bare((tx) =>
      tx.execute<{ count: number }>(
        sql`select count(*)::int as count from ${sql.raw(table)} where ${column} in ${documentIds}`,
      ),
    );
    return row?.count ?? -1;
  }

  test("the nearest of several scopes come back, as a straight comparison finds them", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const [a, b, other] = [
      await seeded.newScope(orgId),
      await seeded.newScope(orgId),
      await seeded.newScope(orgId),
    ];
    const next = randomly(7);
    const documents = [
      ...(await filled(a, modelId, 60, next)),
      ...(await filled(b, modelId, 60, next)),
    ];
    await filled(other, modelId, 60, next);
    for (let round = 0; round < 10; round++) {
      const query = randomVector(D, next);
      const hits = await index.search([a, b], query, { modelId, limit: 12 });
      expect(hits.map(({ documentId }) => documentId)).toEqual(nearest(documents, query, 12));
      const [first] = hits;
      const best = documents.find(({ documentId }) => documentId === first?.documentId);
      expect(first?.cosine).toBeCloseTo(cosineOf(best?.parts[0] ?? query, query), 5);
    }
  });

  test("documents that are equally near come in the order of their ids", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const ids = await seeded.newDocuments(scope, 30);
    const parts = [one(0.3, 0.7, 0.1)];
    const backwards = ids.toReversed().map((documentId) => ({ documentId, parts }));
    await index.store(scope, backwards, modelId);
    const hits = await index.search([scope], one(1, 1), { modelId, limit: 10 });
    expect(hits.map(({ documentId }) => documentId)).toEqual(ids.slice(0, 10));
  });

  test("a document of several parts comes once, by its best part, and pushes nobody out", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const [long = "", short = ""] = await seeded.newDocuments(scope, 2);
    const parts = [one(0, 1), one(1, 0.1), one(1, 0.2), one(1, 0.3)];
    await index.store(scope, [{ documentId: long, parts }], modelId);
    await index.store(scope, [{ documentId: short, parts: [one(1, 2)] }], modelId);
    const hits = await index.search([scope], one(1), { modelId, limit: 2 });
    expect(hits).toMatchObject([
      { documentId: long, cosine: 0.995037 },
      { documentId: short, cosine: 0.447214 },
    ]);
  });

  test("each hit says how much it has in common with all that were found, whatever the length of its vector", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const ids = await seeded.newDocuments(scope, 4);
    const vectors = [one(5), one(1), one(3, 4), one(-1)];
    await index.store(
      scope,
      ids.map((documentId, at) => ({ documentId, parts: [vectors[at] ?? one(1)] })),
      modelId,
    );
    const hits = await index.search([scope], one(1), { modelId, limit: 3 });
    // Of the three nearest the mean direction is (2.6, 0.8) / 3; the fourth has no say.
    expect(hits.map(({ common }) => common)).toEqual([0.866667, 0.866667, 0.733333]);
  });

  test("identical, orthogonal and opposite vectors are 1, 0 and -1", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const ids = await seeded.newDocuments(scope, 3);
    const vectors = [one(0.5), one(0, 2), one(-3)];
    await index.store(
      scope,
      ids.map((documentId, at) => ({ documentId, parts: [vectors[at] ?? one(1)] })),
      modelId,
    );
    const hits = await index.search([scope], one(1), { modelId, limit: 5 });
    expect(hits.map(({ cosine }) => cosine)).toEqual([1, 0, -1]);
  });

  test("storing again replaces, whatever the number of parts was", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    await index.store(scope, [{ documentId, parts: [one(0, 1), one(1), one(1)] }], modelId);
    for (let time = 0; time < 2; time++) {
      await index.store(scope, [{ documentId, parts: [one(0, 0, 1)] }], modelId);
    }
    expect(await index.search([scope], one(1), { modelId, limit: 5 })).toMatchObject([
      { documentId, cosine: 0 },
    ]);
    expect(await rowsOf("embeddings", [documentId])).toBe(1);
  });

  test("vectors of another model are not compared, and their dimensions may differ", async () => {
    const { orgId } = await seeded.newOrg();
    const [before, after] = [await seeded.newModel(D), await seeded.newModel(3)];
    const scope = await seeded.newScope(orgId);
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    await index.store(scope, [{ documentId, parts: [one(1)] }], before);
    const other = Float32Array.of(0, 1, 0);
    expect(await index.search([scope], other, { modelId: after, limit: 5 })).toEqual([]);
    await index.store(scope, [{ documentId, parts: [other] }], after);
    expect(await index.search([scope], other, { modelId: after, limit: 5 })).toHaveLength(1);
    expect(await index.search([scope], one(1), { modelId: before, limit: 5 })).toHaveLength(1);
  });

  test.each([
    ["another length", [Float32Array.of(1, 2)]],
    ["no number", [one(Number.NaN)]],
    ["nothing but zeros", [one()]],
    ["no part", []],
    ["five parts", [one(1), one(1), one(1), one(1), one(1)]],
  ])("a vector of %s is refused before it spoils its scope", async (_what, parts) => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    const stored = index.store(scope, [{ documentId, parts }], modelId);
    await expect(stored).rejects.toThrow(RangeError);
    expect(await rowsOf("embeddings", [documentId])).toBe(0);
  });

  test("documents that are gone meanwhile are skipped, the others stored", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const ids = await seeded.newDocuments(scope, 3);
    await seeded.bare((tx) => tx.execute(sql`delete from org_facts where id = ${ids[1]}`));
    await index.store(
      scope,
      ids.map((documentId) => ({ documentId, parts: [one(1)] })),
      modelId,
    );
    const hits = await index.search([scope], one(1), { modelId, limit: 5 });
    expect(hits.map(({ documentId }) => documentId)).toEqual([ids[0], ids[2]]);
  });

  test("a vector goes with its fact, with its model and with its org", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    const ids = (await filled(scope, modelId, 4)).map(({ documentId }) => documentId);
    const other = await seeded.newModel(D);
    const parts = [one(1)];
    await index.store(scope, [{ documentId: ids[3] ?? "", parts }], other);
    expect(await rowsOf("embeddings", ids)).toBe(5);
    await seeded.bare((tx) => tx.execute(sql`delete from embedding_models where id = ${other}`));
    expect(await rowsOf("embeddings", ids)).toBe(4);
    await seeded.bare((tx) => tx.execute(sql`delete from org_facts where id = ${ids[0]}`));
    expect(await rowsOf("embeddings", ids)).toBe(3);
    await seeded.bare((tx) => tx.execute(sql`delete from orgs where id = ${orgId}`));
    expect(await rowsOf("embeddings", ids)).toBe(0);
  });

  test("the vectors of a model that is no longer used go, in steps, and no others", async () => {
    const { orgId } = await seeded.newOrg();
    const [old, current] = [await seeded.newModel(D), await seeded.newModel(D)];
    const scope = await seeded.newScope(orgId);
    const documents = await filled(scope, old, 2_500);
    await index.store(scope, documents.slice(0, 3), current);
    expect(await index.forget(old, new AbortController().signal)).toBe(2_500);
    const options = { limit: 5 };
    expect(await index.search([scope], one(1), { ...options, modelId: old })).toEqual([]);
    expect(await index.search([scope], one(1), { ...options, modelId: current })).toHaveLength(3);
  });

  test("a vector follows its document into another scope", async () => {
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const [live, archived] = [await seeded.newScope(orgId), await seeded.newScope(orgId)];
    const [document] = await filled(live, modelId, 1);
    await seeded.bare((tx) =>
      tx.execute(sql`
        update search_documents set scope_id = ${archived.id} where id = ${document?.documentId}`),
    );
    const options = { modelId, limit: 5 };
    expect(await index.search([live], one(1), options)).toEqual([]);
    expect(await index.search([archived], one(1), options)).toHaveLength(1);
  });

  test("another org's vectors are out of reach, by its scope and as its document", async () => {
    const [ours, theirs] = [await seeded.newOrg(), await seeded.newOrg()];
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(theirs.orgId);
    const documents = await filled(scope, modelId, 3);
    const options = { modelId, limit: 5 };
    const forged = { ...scope, orgId: ours.orgId };
    expect(await index.search([forged], one(1), options)).toEqual([]);
    await index.store(
      forged,
      [{ documentId: documents[0]?.documentId ?? "", parts: [one(1)] }],
      modelId,
    );
    const [first] = await index.search([scope], one(1), options);
    expect(first?.cosine).not.toBe(1);
    await expect(index.search([scope, forged], one(1), options)).rejects.toThrow(RangeError);
  });

  test("the table is bound to its org as every other, and the app's role may not change it", async () => {
    const [table] = await seeded.bare((tx) =>
      tx.execute(sql`
        select relrowsecurity as bound, (select count(*)::int from pg_policies where tablename = 'embeddings'
          and roles = '{souvenir_app}' and cmd = 'ALL' and qual = with_check and qual like '%app.org_id%') as policies,
          (select string_agg(lower(privilege_type), ' ' order by privilege_type) from aclexplode(relacl)
            where grantee = 'souvenir_app'::regrole) as rights
        from pg_class where relname = 'embeddings'`),
    );
    expect(table).toEqual({ bound: true, policies: 1, rights: "delete insert select update" });
  });

  test("preparing again changes nothing, also at the same time", async () => {
    const others = [1, 2, 3].map(() => new PostgresVectorIndex(seeded.database));
    expect(await Promise.all(others.map((other) => other.prepare()))).toEqual([
      notice,
      notice,
      notice,
    ]);
  });

  test("nothing is searched before the table was made, and that is an outage, not a bug", async () => {
    const bare = await openSeeded(engine);
    try {
      const { orgId } = await bare.newOrg();
      const search = new PostgresVectorIndex(bare.database).search(
        [await bare.newScope(orgId)],
        one(1),
        { modelId: 1, limit: 1 },
      );
      await expect(search).rejects.toMatchObject({ code: "UNAVAILABLE" });
    } finally {
      await bare.close();
    }
  });
});
