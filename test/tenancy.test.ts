import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { sourcesWith, src, unitsOf } from "./support/sources.ts";
import { StatementReader } from "./support/statements.ts";

const schema = join(src, "db/schema");

async function tables(): Promise<Map<string, PgTable>> {
  const found = new Map<string, PgTable>();
  for (const file of readdirSync(schema)) {
    const module: Record<string, unknown> = await import(join(schema, file));
    for (const [name, value] of Object.entries(module)) {
      if (value instanceof PgTable) found.set(name, value);
    }
  }
  return found;
}

/** Tables that are no tenant's, each with the reason. */
const NO_TENANTS: Readonly<Record<string, string>> = {
  embeddingModels: "which vectors may be compared with each other, the same for every org",
};

/**
 * Statements that name no tenant, each with the reason; a name of a file is for all of its own. Everything else must.
 */
const WITHOUT_TENANT: Readonly<Record<string, string>> = {
  "access/repository.ts findActive: select apiKeys": "the key says which org it is of",
  "access/repository.ts noteUse: update apiKeys": "runs with the key lookup, by the key's own id",
  "access/session-repository.ts findKey: select sessions": "the session says which org it is of",
  "access/session-repository.ts deleteEnded: delete sessions": "retention, over all orgs",
  "channels/delivery-repository.ts oldestWaiting: from forward_deliveries":
    "a figure of the server, over all orgs",
  "channels/delivery-repository.ts deleteDead: from forward_deliveries": "retention, over all orgs",
  "channels/outbox-repository.ts claim: from forward_queues":
    "forwarding serves every org; a row says which",
  "channels/outbox-repository.ts next: select forwardQueues":
    "forwarding serves every org; a row says which",
  "channels/repository.ts findByAccount: select channelAccounts":
    "the account says which org a delivery is for",
  "channels/repository.ts tokenVariables: selectDistinct channelAccounts":
    "whether the server can send at all, for whichever org",
  "chat/sending-repository.ts unfinished: select chatMessages":
    "what a process left behind, of every org; a row says which",
  "chat/repository.ts deleteSentBefore: from chat_messages": "retention, over all orgs",
  "chat/repository.ts forgetUpdatesBefore: delete channelUpdates": "retention, over all orgs",
  "erasure/ledger-repository.ts findOrphan: select erasures":
    "the operator's, of an org that is gone",
  "erasure/ledger-repository.ts findOrphan: from orgs": "by the entry's org",
  "erasure/ledger-repository.ts inStates: select erasures":
    "the job serves every org; a row says which",
  "erasure/org-repository.ts hold: from orgs": "by the org's own id",
  "erasure/org-repository.ts delete: from orgs": "by the org's own id",
  "facts/key-repository.ts #rows: from «table»":
    "finds ids by owner; the statement around it takes those of the org",
  "facts/key-repository.ts due: from «table»": "consolidation serves every org; a row says which",
  "idempotency/repository.ts deleteBefore: delete idempotentCalls": "retention, over all orgs",
  "jobs/leases.ts": "by the claimed job's own id; what lapsed is taken back for every org",
  "jobs/queue.ts": "the queue serves every org; the row carries its org",
  "jobs/repository.ts deleteEnded: from jobs": "retention, over all orgs",
  "jobs/repository.ts deleteRuns: from job_runs": "retention, over all orgs",
  "jobs/repository.ts lastRuns: from job_runs": "the org's, or the server's own, which are of none",
  "jobs/repository.ts isOnlyOrg: from orgs": "whether there is another org",
  "links/code-repository.ts deleteExpired: delete linkCodes": "retention, over all orgs",
  "orgs/repository.ts findBySlug: select orgs": "orgs are looked up before there is a tenant",
  "orgs/repository.ts list: select orgs": "the operator sees every org",
  "overview/repository.ts orgIds: select orgs": "each org is counted in a transaction of its own",
  "orgs/repository.ts insert: insert orgs": "the operator makes orgs",
  "turns/repository.ts arms: select newest": "counts what the query inside took of the org",
  "vectors/hnsw.ts #larger: from search_scopes": "indexes are made for every org's large scopes",
  "search/embedding-repository.ts use: update searchScopes":
    "another model: everything of every org gets other vectors",
  "search/embedding-repository.ts due: select searchScopes":
    "scopes of every org wait for vectors; a row says which",
  "vectors/upstash-deletions.ts due: from vector_deletions": "serves every org; a row says which",
  "search/message-repository.ts due: select chatMessages":
    "messages of every org wait for the index; a row says which",
};
const isListed = (statement: string) =>
  Object.keys(WITHOUT_TENANT).some((listed) => `${statement} `.startsWith(`${listed} `));

const tablesByName = new Map(
  [...(await tables())]
    .filter(([name]) => !(name in NO_TENANTS))
    .map(([name, table]) => [name, getTableConfig(table).name]),
);
const sources = sourcesWith(/from "drizzle-orm/).filter(({ file }) => !file.startsWith("db/"));

test("every table has row-level security bound to the tenant, or is not a tenant's", async () => {
  const all = await tables();
  expect(all.size).toBeGreaterThan(12);
  for (const name of Object.keys(NO_TENANTS)) expect(all.has(name), name).toBe(true);
  for (const [name, table] of all) {
    if (name in NO_TENANTS) continue;
    const { policies, columns } = getTableConfig(table);
    expect(policies.length, `${name} has a tenant policy`).toBe(1);
    const tenant = columns.find((column) => column.name === (name === "orgs" ? "id" : "org_id"));
    expect(tenant, `${name} carries its tenant`).toBeDefined();
  }
});

test("every statement on a tenant table carries its tenant, but for the listed ones", () => {
  expect(sources.length).toBeGreaterThan(10);
  const bare = sources
    .flatMap((source) => new StatementReader(source, tablesByName).bare())
    .filter((statement) => !((statement.split(" ").at(-1) ?? "") in NO_TENANTS));
  expect(bare.filter((statement) => !isListed(statement))).toEqual([]);
  const gone = Object.keys(WITHOUT_TENANT).filter(
    (listed) => !bare.some((statement) => `${statement} `.startsWith(`${listed} `)),
  );
  expect(gone, "listed, but gone").toEqual([]);
});

test.each([
  [
    "a built one without a condition",
    "tx.select().from(users).where(eq(users.id, id))",
    "select users",
  ],
  [
    "one that only reads the column",
    "tx.select({ orgId: users.orgId }).from(users)",
    "select users",
  ],
  [
    "an update beside a query that has it",
    "tx.select().from(users).where(eq(users.orgId, orgId)); tx.update(users).set({})",
    "update users",
  ],
  ["a delete by another column", "tx.delete(users).where(inArray(users.id, ids))", "delete users"],
  ["an insert", "tx.insert(users).values({ id })", "insert users"],
  ["an SQL text", "sql`select 1 from users where id = @{id}`", "from users"],
  [
    "a query in brackets",
    "sql`select 1 from users where org_id = @{orgId} and id in (select user_id from memory_kv)`",
    "from memory_kv",
  ],
  [
    "a query that a common table expression holds",
    "sql`with e as (select 1 from memory_kv) insert into users (org_id) select @{orgId} from e`",
    "from memory_kv",
  ],
  [
    "an insert that names it only in what it returns",
    "sql`update users set id = 1 returning org_id`",
    "update users",
  ],
  ["a table that a variable names", "sql`select 1 from @{table} where id = @{id}`", "from «table»"],
])("the reader of statements finds %s", (_what, code, found) => {
  const text = `class A { read({ orgId }, id, ids, table, tx) { ${code.replaceAll("@", "$")} } }`;
  const source = { file: "a.ts", text, units: unitsOf(text) };
  expect(new StatementReader(source, tablesByName).bare()).toEqual([`a.ts read: ${found}`]);
});

test.each([
  ["a condition", "tx.select().from(users).where(and(eq(users.orgId, orgId), eq(users.id, id)))"],
  [
    "a condition in a constant",
    "const of = eq(users.orgId, scope.orgId); tx.select().from(users).where(of)",
  ],
  ["a condition by a function", "tx.select().from(users).where(ofOrg(scope))"],
  ["a condition for a function", "list(tx, eq(users.orgId, orgId))"],
  ["a value", "tx.insert(users).values({ orgId, id })"],
  [
    "SQL with brackets around conditions",
    "sql`select 1 from users where (org_id = @{orgId} and (id = @{id}))`",
  ],
])("the reader of statements takes %s", (_what, code) => {
  const text = `class A { read(scope, orgId, id, tx) { ${code.replaceAll("@", "$")} } }
    function ofOrg(scope) { return eq(users.orgId, scope.orgId); }
    function list(tx, condition) { return tx.select().from(users).where(condition); }`;
  const source = { file: "a.ts", text, units: unitsOf(text) };
  expect(new StatementReader(source, tablesByName).bare()).toEqual([]);
});

test("transactions over all orgs are asked for by the listed files only", () => {
  const users = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => /transactions\.system\(/.test(readFileSync(join(src, file), "utf8")))
    .sort();
  expect(users).toEqual([
    "access/jobs.ts",
    "access/service.ts",
    "access/sessions.ts",
    "app.ts",
    "channels/forwarder.ts",
    "channels/jobs.ts",
    "channels/service.ts",
    "chat/jobs.ts",
    "erasure/progress.ts",
    "erasure/scanning.ts",
    "erasure/service.ts",
    "facts/consolidation.ts",
    "idempotency/jobs.ts",
    "jobs/attempt.ts",
    "jobs/prune.ts",
    "jobs/runner.ts",
    "jobs/service.ts",
    "links/assertions.ts",
    "links/jobs.ts",
    "orgs/service.ts",
    "overview/jobs.ts",
    "search/embedding.ts",
    "search/jobs.ts",
    "search/meaning.ts",
    "startup.ts",
    "vectors/hnsw.ts",
    "vectors/postgres.ts",
    "vectors/upstash-deletions.ts",
  ]);
});
