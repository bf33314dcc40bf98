import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Database } from "../../src/db/client.ts";
import { HnswIndexes } from "../../src/vectors/hnsw.ts";
import type { VectorScope } from "../../src/vectors/index.ts";
import { PostgresVectorIndex } from "../../src/vectors/postgres.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../support/database.ts";
import { nearest, randomly, randomVector, seedingOf } from "./seeded.ts";

const D = 24;
const serverUrl = inject("postgresUrl");

/** A login of its own without any right but those that the manual asks for, on a database that another user owns. */
describe.skipIf(serverUrl === undefined)(
  "on PostgreSQL with a user who may install nothing",
  () => {
    const login = `plain_${randomBytes(6).toString("hex")}`;
    let url: string;
    let admin: postgres.Sql;
    let database: Database;
    let isOnServer: boolean;
    beforeAll(async () => {
      url = await createPostgresDatabase();
      admin = postgres(url, { max: 1, onnotice: () => {} });
      await admin.unsafe(`
      create role ${login} login password '${login}';
      grant souvenir_app to ${login};
      grant create, usage on schema public to ${login};`);
      const [available] = await admin`select 1 from pg_available_extensions where name = 'vector'`;
      isOnServer = available !== undefined;
      const own = new URL(url);
      own.username = login;
      own.password = login;
      database = await Database.open({ url: own.href, dataDir: "" });
      await database.prepare();
    });
    afterAll(async () => {
      await database?.close();
      await admin?.unsafe(`drop owned by ${login}; drop role ${login}`);
      await admin?.end();
      await dropPostgresDatabase(url);
    });

    test("vectors are compared one by one, which is said with the cure, and pgvector takes over once it is there", async () => {
      const index = new PostgresVectorIndex(database);
      const notice = await index.prepare();
      expect(notice).toContain(
        isOnServer
          ? "as an administrator of that database run: CREATE EXTENSION vector"
          : "install it on the database's server and start again",
      );
      expect(notice).toContain("compared one by one, at most 20,000 a search");

      const seeded = seedingOf(database);
      const { orgId } = await seeded.newOrg();
      const modelId = await seeded.newModel(D);
      const scope: VectorScope = await seeded.newScope(orgId);
      const next = randomly(5);
      // More than one page, and two parts each.
      const documents = (await seeded.newDocuments(scope, 1_500)).map((documentId) => ({
        documentId,
        parts: [randomVector(D, next), randomVector(D, next)],
      }));
      await index.store(scope, documents, modelId);
      const query = randomVector(D, next);
      const options = { modelId, limit: 20 };
      const found = await index.search([scope], query, options);
      expect(found.map(({ documentId }) => documentId)).toEqual(nearest(documents, query, 20));

      const signal = new AbortController().signal;
      expect(await new HnswIndexes(database, 10).maintain(signal)).toEqual({ made: 0, dropped: 0 });

      const [first] = documents;
      const better = [{ documentId: first?.documentId ?? "", parts: [query] }];
      if (isOnServer) {
        await admin`create extension vector`;
        // Another server that starts now changes the column under this one.
        expect(await new PostgresVectorIndex(database).prepare()).toBeUndefined();
        expect(await index.search([scope], query, options)).toEqual(found);
      }
      await index.store(scope, better, modelId);
      expect(await index.search([scope], query, { modelId, limit: 1 })).toMatchObject([
        { documentId: first?.documentId, cosine: 1 },
      ]);
      const [count] = await seeded.bare((tx) =>
        tx.execute(
          sql`select count(*)::int as count, pg_typeof(min(part))::text as type from embeddings`,
        ),
      );
      expect(count).toMatchObject({ count: 2_999 });
    });
  },
);
