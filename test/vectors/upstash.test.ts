import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { VectorScope } from "../../src/vectors/index.ts";
import { UpstashVectorIndex } from "../../src/vectors/upstash.ts";
import { UpstashClient } from "../../src/vectors/upstash-client.ts";
import { UpstashDeletions } from "../../src/vectors/upstash-deletions.ts";
import { namespaceOf } from "../../src/vectors/upstash-namespace.ts";
import { onBothDatabases } from "../support/database.ts";
import { UpstashDouble } from "../support/upstash-double.ts";
import { openSeeded, type Seeded } from "./seeded.ts";

const D = 4;
const never = new AbortController().signal;
const v = (...values: number[]) => Float32Array.from(values);

let remote: UpstashDouble;
beforeAll(async () => {
  remote = await UpstashDouble.start(D);
});
afterEach(() => remote.reset());
afterAll(() => remote.stop());

const clientOf = (options: { token?: string; url?: string; timeoutMs?: number } = {}) =>
  new UpstashClient({ url: remote.url, token: remote.token, ...options });

onBothDatabases((engine) => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await openSeeded(engine);
  });
  afterAll(() => seeded.close());

  const indexOf = (client = clientOf()) =>
    new UpstashVectorIndex(client, seeded.database.transactions);
  const deletions = () => new UpstashDeletions(clientOf(), seeded.database.transactions);

  async function newScope(agentId = "atlas") {
    const { orgId } = await seeded.newOrg();
    return seeded.newScope(orgId, agentId);
  }

  async function due(): Promise<number> {
    const [row] = await seeded.bare((tx) =>
      tx.execute<{ count: number }>(sql`select count(*)::int as count from vector_deletions`),
    );
    return row?.count ?? -1;
  }

  const forget = (id: string) =>
    seeded.bare((tx) => tx.execute(sql`delete from org_facts where id = ${id}`));

  test("identical, orthogonal and opposite vectors are 1, 0 and -1, as in the other index", async () => {
    const scope = await newScope();
    const ids = await seeded.newDocuments(scope, 3);
    const vectors = [v(1, 0, 0, 0), v(0, 2, 0, 0), v(-3, 0, 0, 0)];
    const documents = ids.map((documentId, at) => ({ documentId, parts: [vectors[at] ?? v()] }));
    await indexOf().store(scope, documents, 1);
    const hits = await indexOf().search([scope], v(1, 0, 0, 0), { modelId: 1, limit: 5 });
    expect(hits).toEqual(ids.map((documentId, at) => ({ documentId, cosine: [1, 0, -1][at] })));
  });

  test("pockets, people and models that were not asked for stay out", async () => {
    const scope = await newScope("maya");
    const documents = (ids: readonly string[]) =>
      ids.map((documentId) => ({ documentId, parts: [v(1, 1, 0, 0)] }));
    const [first = "", second = "", third = ""] = await seeded.newDocuments(scope, 3);
    await indexOf().store(scope, documents([first]), 1);
    await indexOf().store({ ...scope, agentId: "otis" }, documents([second]), 1);
    await indexOf().store(scope, documents([third]), 2);
    const find = async (...scopes: VectorScope[]) =>
      (await indexOf().search(scopes, v(1, 1, 0, 0), { modelId: 1, limit: 5 })).map(
        ({ documentId }) => documentId,
      );
    expect(await find(scope)).toEqual([first]);
    expect(await find(scope, { ...scope, agentId: "otis" })).toEqual([first, second]);

    const messages = { ...scope, kind: "message" as const, agentId: "", userId: v7() };
    const [ours = "", theirs = ""] = await seeded.newDocuments(scope, 2);
    await indexOf().store(messages, documents([ours]), 1);
    await indexOf().store({ ...messages, userId: v7() }, documents([theirs]), 1);
    expect(await find(messages)).toEqual([ours]);
    expect(await find(messages, scope)).toEqual([first, ours]);
  });

  test("a document of several parts comes once, and parts that it has no more are deleted", async () => {
    const scope = await newScope();
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    const parts = [v(0, 1, 0, 0), v(1, 0, 0, 0), v(1, 1, 0, 0)];
    await indexOf().store(scope, [{ documentId, parts }], 1);
    const options = { modelId: 1, limit: 5 };
    expect(await indexOf().search([scope], v(1, 0, 0, 0), options)).toEqual([
      { documentId, cosine: 1 },
    ]);
    await indexOf().store(scope, [{ documentId, parts: parts.slice(0, 1) }], 1);
    expect(remote.ids(namespaceOf(scope))).toEqual([documentId]);
  });

  test("a write that queries do not see yet is no failure", async () => {
    remote.lag = 2;
    const scope = await newScope();
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    await indexOf().store(scope, [{ documentId, parts: [v(1, 0, 0, 0)] }], 1);
    const search = () => indexOf().search([scope], v(1, 0, 0, 0), { modelId: 1, limit: 5 });
    expect(await search()).toEqual([]);
    expect(await search()).toHaveLength(1);
  });

  test("what is deleted here is deleted there, and forgotten only once it no longer answers", async () => {
    const scope = await newScope();
    const [gone = "", kept = ""] = await seeded.newDocuments(scope, 2);
    const parts = [v(1, 0, 0, 0), v(0, 1, 0, 0)];
    const documents = [gone, kept].map((documentId) => ({ documentId, parts }));
    await indexOf().store(scope, documents, 1);
    await forget(gone);
    expect(await due()).toBe(1);
    remote.keepsDeleted = true;
    expect(await deletions().run(never)).toEqual({ deleted: 0, waiting: 1 });
    expect(await due()).toBe(1);
    remote.keepsDeleted = false;
    remote.trouble = 500;
    expect(await deletions().run(never)).toEqual({ deleted: 0, waiting: 1 });
    remote.trouble = undefined;
    expect(await deletions().run(never)).toEqual({ deleted: 1, waiting: 0 });
    expect(remote.ids(namespaceOf(scope))).toEqual([kept, `${kept}:1`]);
    expect(await due()).toBe(0);
    remote.received.length = 0;
    await deletions().run(never);
    expect(remote.received).toEqual([]);
  });

  test("a document that is deleted while its vector is on its way leaves none behind", async () => {
    const scope = await newScope();
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    remote.onUpsert = async () => {
      await forget(documentId);
      await seeded.bare((tx) => tx.execute(sql`delete from vector_deletions`));
    };
    await indexOf().store(scope, [{ documentId, parts: [v(1, 0, 0, 0)] }], 1);
    expect(remote.ids(namespaceOf(scope))).toEqual([documentId]);
    await deletions().run(never);
    expect(remote.ids(namespaceOf(scope))).toEqual([]);
    expect(await due()).toBe(0);
  });

  test("documents that are gone already are not sent", async () => {
    const scope = await newScope();
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    await forget(documentId);
    await indexOf().store(scope, [{ documentId, parts: [v(1, 0, 0, 0)] }], 1);
    expect(remote.received).toEqual([]);
  });

  test("a document that came back under its id while its deletion was due gets its vector again", async () => {
    const scope = await newScope();
    const modelId = await seeded.newModel(D, "upstash");
    const [documentId = ""] = await seeded.newDocuments(scope, 1);
    await indexOf().store(scope, [{ documentId, parts: [v(1, 0, 0, 0)] }], modelId);
    await seeded.bare((tx) =>
      tx.execute(sql`update search_documents set model_id = ${modelId} where id = ${documentId}`),
    );
    await seeded.bare((tx) =>
      tx.execute(sql`insert into vector_deletions (org_id, namespace, document_id)
        values (${scope.orgId}, ${namespaceOf(scope)}, ${documentId})`),
    );
    await deletions().run(never);
    const [row] = await seeded.bare((tx) =>
      tx.execute(sql`
        select d.model_id, s.embed_due from search_documents d join search_scopes s on s.id = d.scope_id
        where d.id = ${documentId}`),
    );
    expect(row).toEqual({ model_id: null, embed_due: true });
  });

  test.each([401, 429, 500, "html", "hang"] as const)(
    "%s there is an outage here, soon and without a word of the provider's",
    async (trouble) => {
      remote.trouble = trouble;
      const scope = await newScope();
      const [documentId = ""] = await seeded.newDocuments(scope, 1);
      const index = indexOf(clientOf({ timeoutMs: 200 }));
      const attempts = [
        index.search([scope], v(1, 0, 0, 0), { modelId: 1, limit: 5 }),
        index.store(scope, [{ documentId, parts: [v(1, 0, 0, 0)] }], 1),
      ];
      for (const attempt of attempts) {
        const error = await attempt.then(
          () => new Error("it went well"),
          (reason: unknown) => reason as Error,
        );
        expect(error).toMatchObject({ code: "UNAVAILABLE" });
        const told = `${error.message} ${String(error.cause)}`;
        expect(told).not.toMatch(/canary|token|html/);
      }
      expect(await index.prepare(D)).toContain("check UPSTASH_VECTOR_REST_URL");
    },
  );

  test("a search that is called off ends with the caller's reason", async () => {
    remote.trouble = "hang";
    const stop = new AbortController();
    const search = indexOf().search([await newScope()], v(1, 0, 0, 0), {
      modelId: 1,
      limit: 5,
      signal: stop.signal,
    });
    stop.abort(new Error("the caller left"));
    await expect(search).rejects.toThrow("the caller left");
  });

  test("a wrong number of dimensions and another measure are said at start", async () => {
    expect(await indexOf().prepare(D)).toBeUndefined();
    expect(await indexOf().prepare()).toBeUndefined();
    expect(await indexOf().prepare(384)).toContain(
      "has 4 dimensions and the embedder's vectors have 384",
    );
    const other = await UpstashDouble.start(D, "EUCLIDEAN");
    try {
      const index = indexOf(clientOf({ url: other.url }));
      expect(await index.prepare(D)).toContain("another measure than COSINE");
    } finally {
      await other.stop();
    }
  });

  test("the key alone is sent along: nothing about this machine", async () => {
    await indexOf().prepare(D);
    expect(JSON.stringify(remote.received[0]?.headers)).not.toMatch(/telemetry|sdk/i);
  });

  test("many long vectors arrive, in requests of a bounded size", async () => {
    const wide = await UpstashDouble.start(1_536);
    try {
      const scope = await newScope();
      const ids = await seeded.newDocuments(scope, 250);
      const vector = Float32Array.from({ length: 1_536 }, (_, at) => Math.sin(at));
      const documents = ids.map((documentId) => ({ documentId, parts: [vector] }));
      await indexOf(clientOf({ url: wide.url })).store(scope, documents, 1);
      expect(wide.ids(namespaceOf(scope))).toEqual(ids);
      expect(wide.received).toHaveLength(3);
    } finally {
      await wide.stop();
    }
  });
});
