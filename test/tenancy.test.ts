import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";

const src = join(import.meta.dirname, "../src");
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

/** Methods whose query names no tenant, each with the reason. Everything else must. */
const WITHOUT_TENANT: Readonly<Record<string, string>> = {
  "access/repository.ts findActive": "the key says which org it is of",
  "access/repository.ts noteUse": "runs with the key lookup, by the key's own id",
  "channels/repository.ts findByAccount": "the account says which org a delivery is for",
  "orgs/repository.ts findBySlug": "orgs are looked up before there is a tenant",
  "orgs/repository.ts list": "the operator sees every org",
  "orgs/repository.ts insert": "the operator makes orgs",
  "chat/repository.ts deleteSentBefore": "retention is the operator's, over all orgs",
  "chat/repository.ts forgetUpdatesBefore": "retention is the operator's, over all orgs",
  "idempotency/repository.ts deleteBefore": "retention is the operator's, over all orgs",
  "jobs/queue.ts enqueue": "the queue serves every org; the row carries its org",
  "jobs/queue.ts claim": "the queue serves every org",
  "jobs/queue.ts complete": "by the claimed job's own id",
  "jobs/queue.ts fail": "by the claimed job's own id",
};

/** Splits a class's source into its methods, by the two-space indentation that the formatter keeps. */
function methodsOf(source: string): [name: string, body: string][] {
  const starts = [...source.matchAll(/^ {2}(?:async )?(#?\w+)(?:<[^>]*>)?\(/gm)];
  return starts.map((match, i) => [
    match[1] as string,
    source.slice(match.index, starts[i + 1]?.index ?? source.length),
  ]);
}

/** Functions of a file that put the tenant into a query, for the methods that call them. */
function tenantClauses(source: string): string[] {
  return [...source.matchAll(/^function (\w+)[\s\S]*?^}/gm)]
    .filter(([text]) => /\borgId\b/.test(text.slice(text.indexOf("{"))))
    .map(([, name]) => name as string);
}

/** A method without its signature, where naming the tenant proves nothing. */
function statementsOf(method: string): string {
  const firstLine = method.slice(0, method.indexOf("\n"));
  const signature = /\{$/.test(firstLine) && firstLine.includes(")") ? firstLine : undefined;
  const end = signature?.length ?? /^ {2}\).*\{$/m.exec(method)?.index ?? 0;
  return method.slice(end);
}

function carriesTenant(body: string, clauses: readonly string[]): boolean {
  const statements = statementsOf(body);
  return /\borgId\b/.test(statements) || clauses.some((name) => statements.includes(`${name}(`));
}

const queryFiles = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(?:repository|users\/context|jobs\/queue)\.ts$/.test(file),
);

test("every table has row-level security bound to the tenant, or is not a tenant's", async () => {
  const all = await tables();
  expect(all.size).toBeGreaterThan(12);
  for (const [name, table] of all) {
    const { policies, columns } = getTableConfig(table);
    expect(policies.length, `${name} has a tenant policy`).toBe(1);
    const tenant = columns.find((column) => column.name === (name === "orgs" ? "id" : "org_id"));
    expect(tenant, `${name} carries its tenant`).toBeDefined();
  }
});

test("every query on a tenant table carries its tenant, but for the listed ones", () => {
  const bare = queryFiles.flatMap((file) => {
    const source = readFileSync(join(src, file), "utf8");
    const clauses = tenantClauses(source);
    return methodsOf(source)
      .filter(([, body]) => /\btx\s*\.(?:select|insert|update|delete|execute)/.test(body))
      .filter(([, body]) => !carriesTenant(body, clauses))
      .map(([name]) => `${file} ${name}`);
  });
  expect(bare.filter((method) => !(method in WITHOUT_TENANT))).toEqual([]);
});

test("the list of queries without a tenant holds nothing that is gone", () => {
  const methods = queryFiles.flatMap((file) =>
    methodsOf(readFileSync(join(src, file), "utf8")).map(([name]) => `${file} ${name}`),
  );
  expect(Object.keys(WITHOUT_TENANT).filter((method) => !methods.includes(method))).toEqual([]);
});

test("transactions over all orgs are asked for by the listed files only", () => {
  const users = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => /transactions\.system\(/.test(readFileSync(join(src, file), "utf8")))
    .sort();
  expect(users).toEqual([
    "access/service.ts",
    "app.ts",
    "channels/service.ts",
    "chat/jobs.ts",
    "idempotency/jobs.ts",
    "jobs/runner.ts",
    "orgs/service.ts",
    "startup.ts",
  ]);
});
