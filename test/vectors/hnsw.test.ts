import { type SQL, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/db/client.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { HnswIndexes } from "../../src/vectors/hnsw.ts";
import type { VectorScope } from "../../src/vectors/index.ts";
import { PostgresVectorIndex } from "../../src/vectors/postgres.ts";
import { onBothDatabases } from "../support/database.ts";
import { nearest, openSeeded, randomly, randomVector, type Seeded } from "./seeded.ts";

const D = 16;
const never = new AbortController().signal;

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

  const hasPgvector = () => notice === undefined;
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

  /** The index, with the plan of each of its searches as the app's role gets it. */
  function explaining(): { index: PostgresVectorIndex; plans: string[] } {
    const plans: string[] = [];
    const { transactions, kind } = seeded.database;
    const explained = {
      tenant: (scope: { orgId: string }, work: (tx: Tx) => Promise<unknown>) =>
        transactions.tenant(scope, (tx) =>
          work({
            execute: async (query: SQL) => {
              const text = JSON.stringify(query.queryChunks);
              if (text.includes("<=>")) {
                const rows = await tx.execute<{ "QUERY PLAN": string }>(sql`explain ${query}`);
                plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
              }
              return tx.execute(query);
            },
          } as unknown as Tx),
        ),
    };
    const database = { kind, transactions: explained } as unknown as Database;
    return { index: new PostgresVectorIndex(database), plans };
  }

  test("B128: a small tenant far from the query gets all it has, however near a large one lies", async ({
    skip,
  }) => {
    skip(!hasPgvector(), "this PostgreSQL has no pgvector");
    const [big, small] = [await seeded.newOrg(), await seeded.newOrg()];
    const modelId = await seeded.newModel(D);
    const [bigScope, smallScope] = [
      await seeded.newScope(big.orgId),
      await seeded.newScope(small.orgId),
    ];
    const next = randomly(3);
    const near = (await seeded.newDocuments(bigScope, 4_000)).map((documentId) => ({
      documentId,
      parts: [one(1, next() / 10, next() / 10)],
    }));
    await index.store(bigScope, near, modelId);
    const far = (await seeded.newDocuments(smallScope, 20)).map((documentId) => ({
      documentId,
      parts: [one(1, 3 + next(), 3 + next())],
    }));
    await index.store(smallScope, far, modelId);
    await new HnswIndexes(seeded.database, 1_000).maintain(never);
    const hits = await index.search([smallScope], one(1), { modelId, limit: 10 });
    expect(hits.map(({ documentId }) => documentId)).toEqual(nearest(far, one(1), 10));
  });

  test("vectors too long for pgvector's index are indexed at half precision, or compared on the embedded database", async ({
    skip,
  }) => {
    skip(!hasPgvector(), "this PostgreSQL has no pgvector");
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(3_072);
    const scope = await seeded.newScope(orgId);
    const next = randomly(9);
    const documents = (await seeded.newDocuments(scope, 300)).map((documentId) => ({
      documentId,
      parts: [randomVector(3_072, next)],
    }));
    await index.store(scope, documents, modelId);
    // Above the small orgs of the other tests.
    const due = new HnswIndexes(seeded.database, 299);
    await due.maintain(never);
    const [made] = await seeded.bare((tx) =>
      tx.execute<{ definition: string }>(sql`
        select indexdef as definition from pg_indexes
        where indexname = ${`embeddings_hnsw_${modelId}_${scope.id}`}`),
    );
    if (engine === "postgres") expect(made?.definition).toContain("halfvec(3072)");
    else expect(made).toBeUndefined();
    const query = randomVector(3_072, next);
    const hits = await index.search([{ ...scope, documents: 25_000 }], query, {
      modelId,
      limit: 5,
    });
    expect(hits.map(({ documentId }) => documentId)).toEqual(nearest(documents, query, 5));
  });

  test("an index whose making was cut short is made again", async ({ skip }) => {
    skip(!hasPgvector() || engine === "embedded", "only CONCURRENTLY leaves one");
    const { orgId } = await seeded.newOrg();
    const modelId = await seeded.newModel(D);
    const scope = await seeded.newScope(orgId);
    await filled(scope, modelId, 400);
    const due = new HnswIndexes(seeded.database, 399);
    await due.maintain(never);
    const name = `embeddings_hnsw_${modelId}_${scope.id}`;
    const isValid = async () => {
      const rows = await seeded.bare((tx) =>
        tx.execute<{ valid: boolean }>(
          sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`,
        ),
      );
      return rows[0]?.valid;
    };
    await seeded.bare((tx) =>
      tx.execute(
        sql`update pg_index set indisvalid = false where indexrelid = to_regclass(${name})`,
      ),
    );
    expect(await isValid()).toBe(false);
    await due.maintain(never);
    expect(await isValid()).toBe(true);
  });

  describe("a large scope", () => {
    /** The threshold is lowered instead: making an index of 20,000 would take half of this file. */
    const size = engine === "postgres" ? 8_000 : 5_000;
    let scope: VectorScope;
    let small: VectorScope;
    let modelId: number;
    let documents: Awaited<ReturnType<typeof filled>>;
    beforeAll(async () => {
      const { orgId } = await seeded.newOrg();
      modelId = await seeded.newModel(D);
      scope = { ...(await seeded.newScope(orgId)), documents: 25_000 };
      small = { ...(await seeded.newScope(orgId)), documents: 50 };
      documents = await filled(scope, modelId, size);
      await filled(small, modelId, 50);
      await seeded.bare((tx) => tx.execute(sql`analyze embeddings`));
    });

    const indexes = async () => {
      const rows = await seeded.bare((tx) =>
        tx.execute<{ name: string }>(sql`
          select indexname as name from pg_indexes where indexname like 'embeddings_hnsw_%' order by 1`),
      );
      return rows.map(({ name }) => name);
    };

    test("is searched through an index of its own, a small one beside it by comparing all", async ({
      skip,
    }) => {
      skip(!hasPgvector(), "this PostgreSQL has no pgvector");
      const name = `embeddings_hnsw_${modelId}_${scope.id}`;
      await new HnswIndexes(seeded.database, size - 1).maintain(never);
      expect(await indexes()).toContain(name);
      const { index: explained, plans } = explaining();
      await explained.search([small], one(1), { modelId, limit: 10 });
      await explained.search([scope, small], one(1), { modelId, limit: 10 });
      const [exact = "", both = ""] = plans;
      expect(exact).toMatch(/embeddings_pkey/);
      expect(exact).not.toContain("hnsw");
      expect(both).toContain(`Index Scan using ${name}`);
      expect(both).toMatch(/embeddings_pkey/);
      expect(both.match(/hnsw/g)).toHaveLength(1);
    });

    test("gives nearly all that comparing finds, and is full to the limit", async () => {
      const next = randomly(11);
      let found = 0;
      for (let round = 0; round < 10; round++) {
        const query = randomVector(D, next);
        const hits = await index.search([scope], query, { modelId, limit: 50 });
        expect(hits).toHaveLength(50);
        const exact = new Set(nearest(documents, query, 50));
        found += hits.filter(({ documentId }) => exact.has(documentId)).length;
      }
      expect(found).toBeGreaterThan(hasPgvector() ? 475 : 300);
    });

    test("loses its index when it has shrunk, and when its model was retired", async ({ skip }) => {
      skip(!hasPgvector(), "this PostgreSQL has no pgvector");
      const name = `embeddings_hnsw_${modelId}_${scope.id}`;
      const shrunk = new HnswIndexes(seeded.database, size * 4);
      expect((await shrunk.maintain(never)).dropped).toBeGreaterThan(0);
      expect(await indexes()).not.toContain(name);
      expect(await new HnswIndexes(seeded.database, size * 1.5).maintain(never)).toMatchObject({
        made: 0,
      });
      expect(await new HnswIndexes(seeded.database, size - 1).maintain(never)).toMatchObject({
        made: 1,
      });
      // Between half the threshold and the threshold it stays as it is.
      expect(await new HnswIndexes(seeded.database, size * 1.5).maintain(never)).toEqual({
        made: 0,
        dropped: 0,
      });
      await seeded.bare((tx) =>
        tx.execute(sql`update embedding_models set state = 'retired' where id = ${modelId}`),
      );
      await new HnswIndexes(seeded.database, size - 1).maintain(never);
      expect(await indexes()).not.toContain(name);
    });
  });
});
