import { drizzle } from "drizzle-orm/postgres-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Tx } from "../../src/db/tenant.ts";
import { prepareTable } from "../../src/vectors/embeddings-table.ts";
import { onBothDatabases } from "../support/database.ts";
import { ownedTables, type Table, tablesOf } from "./catalog.ts";
import { openOneConnection, type RawTx, type Sql } from "./one-connection.ts";
import { type Row, seedOrg, seedShared } from "./seed-rows.ts";

/** Tables that are no tenant's, and that a tenant's transaction may read all the same. */
const READABLE: Readonly<Record<string, string>> = {
  embedding_models: "names of models: which vectors may be compared, the same for every org",
};

const ROLE = "souvenir_app";
/** Without parentheses, which versions of PostgreSQL set differently. */
const BOUND = "NULLIFcurrent_setting'app.org_id'::text, true, ''::text::uuid";

onBothDatabases((engine) => {
  let sql: Sql;
  let close: () => Promise<void>;
  let tables: Table[];
  let ours: Map<string, Row>;
  let theirs: Map<string, Row>;
  beforeAll(async () => {
    ({ sql, close } = await openOneConnection(engine));
    // Not a migration's: its type depends on what the server has.
    await drizzle(sql).transaction((tx) => prepareTable(tx as unknown as Tx));
    tables = await tablesOf(sql);
    const shared = await seedShared(sql);
    ours = await seedOrg(sql, tables, shared);
    theirs = await seedOrg(sql, tables, shared);
  });
  afterAll(() => close());

  const idOf = (rows: Map<string, Row>) => String(rows.get("orgs")?.id);

  /** Runs statements as a tenant transaction of `orgId` does, and undoes them. */
  async function as<T>(orgId: string | undefined, work: (tx: RawTx) => Promise<T>): Promise<T> {
    const undo = Symbol("undo");
    let result: T | undefined;
    await sql
      .begin(async (tx) => {
        await tx`select set_config('role', ${ROLE}, true)`;
        if (orgId !== undefined) await tx`select set_config('app.org_id', ${orgId}, true)`;
        result = await work(tx as RawTx);
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    return result as T;
  }

  const refusal = (orgId: string | undefined, work: (tx: RawTx) => Promise<unknown>) =>
    as(orgId, work).then(
      () => "allowed",
      (error: { code?: string }) => error.code,
    );

  /** The same check on every table, by name, so that a failure says which one. */
  async function onEveryTable<T>(
    check: (table: Table & { tenant: "org_id" | "id" }) => Promise<T>,
  ): Promise<Record<string, T>> {
    const results: Record<string, T> = {};
    for (const table of ownedTables(tables)) results[table.name] = await check(table);
    return results;
  }

  const everywhere = <T>(value: T) =>
    Object.fromEntries(ownedTables(tables).map(({ name }) => [name, value]));

  const insertFrom = (tx: RawTx, { name }: Table, row: Row | undefined) => tx`
    insert into ${sql(name)} overriding system value
    select * from json_populate_record(null::${sql(name)}, ${JSON.stringify(row)}::text::json)`;

  describe("the catalog", () => {
    test("every table is a tenant's and bound to it, or out of the app's reach", async () => {
      const found = await sql<{ name: string; bound: boolean; rights: string | null }[]>`
        select c.relname as name, c.relrowsecurity as bound,
          (select string_agg(lower(a.privilege_type), ' ' order by a.privilege_type)
            from aclexplode(c.relacl) a where a.grantee in (0, ${ROLE}::regrole)) as rights
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
      const owned = new Set(ownedTables(tables).map(({ name }) => name));
      expect(owned.size).toBeGreaterThan(15);
      for (const { name, bound, rights } of found) {
        expect({ name, bound, rights }).toEqual(
          owned.has(name)
            ? { name, bound: true, rights: "delete insert select update" }
            : { name, bound: false, rights: name in READABLE ? "select" : null },
        );
      }
    });

    test("every tenant table has one policy: for all statements, by its tenant, on reading and writing", async () => {
      const policies = await sql<{ table: string; text: string }[]>`
        select tablename as table, concat_ws(' ', permissive, roles, cmd,
            translate(qual, '()', ''), translate(with_check, '()', '')) as text
        from pg_policies order by tablename`;
      expect(Object.fromEntries(policies.map(({ table, text }) => [table, text]))).toEqual(
        await onEveryTable(async ({ tenant }) => {
          const bound = `${tenant} = ${BOUND}`;
          return `PERMISSIVE {${ROLE}} ALL ${bound} ${bound}`;
        }),
      );
      expect(policies).toHaveLength(ownedTables(tables).length);
    });

    test("the app's role can do nothing but that: no login, no bypass, no other role, no own tables", async () => {
      const [role] = await sql`
        select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
          (select count(*)::int from pg_auth_members where member = r.oid) as member_of,
          (select count(*)::int from pg_class where relowner = r.oid) as owns,
          has_schema_privilege(${ROLE}, 'public', 'create') as creates
        from pg_roles r where rolname = ${ROLE}`;
      expect(role).toEqual({
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        rolcreaterole: false,
        rolcreatedb: false,
        member_of: 0,
        owns: 0,
        creates: false,
      });
    });

    test("no function of ours runs with its owner's rights", async () => {
      const found = await sql`
        select proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where p.prosecdef and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
      expect([...found]).toEqual([]);
    });

    test("every reference to a tenant's row carries the tenant, so none can lead to another org", () => {
      const loose = ownedTables(tables).flatMap(({ name, columns, references }) =>
        references
          .filter(({ to, columns: from, toColumns }) => {
            if (to in READABLE) return false;
            if (to === "orgs") return !from.includes("org_id");
            const at = from.indexOf("org_id");
            const required = columns.find((column) => column.name === "org_id")?.required;
            return at === -1 || toColumns[at] !== "org_id" || !required;
          })
          .map((reference) => `${name} ${reference.name}`),
      );
      expect(loose).toEqual([]);
    });
  });

  describe("with an org set", () => {
    test("its own rows are visible, another org's are not", async () => {
      const seen = await onEveryTable(({ name, tenant }) =>
        as(idOf(ours), async (tx) => {
          const rows = await tx<{ org: string }[]>`select ${sql(tenant)} as org from ${sql(name)}`;
          return [...new Set(rows.map(({ org }) => org))];
        }),
      );
      expect(seen).toEqual(everywhere([idOf(ours)]));
    });

    test("updates and deletes without any filter reach its own rows only", async () => {
      const touched = await onEveryTable(({ name, tenant }) =>
        as(idOf(ours), async (tx) => {
          const updated = await tx<{ org: string }[]>`
            update ${sql(name)} set ${sql(tenant)} = ${sql(tenant)} returning ${sql(tenant)} as org`;
          const deleted = await tx<{ org: string }[]>`
            delete from ${sql(name)} returning ${sql(tenant)} as org`;
          return [...new Set([...updated, ...deleted].map(({ org }) => org))];
        }),
      );
      expect(touched).toEqual(everywhere([idOf(ours)]));
    });

    test("updates and deletes that name another org's rows find none", async () => {
      const touched = await onEveryTable(({ name, tenant }) =>
        as(idOf(ours), async (tx) => {
          const updated = await tx`
            update ${sql(name)} set ${sql(tenant)} = ${idOf(ours)} where ${sql(tenant)} = ${idOf(theirs)}`;
          const deleted = await tx`delete from ${sql(name)} where ${sql(tenant)} = ${idOf(theirs)}`;
          return updated.count + deleted.count;
        }),
      );
      expect(touched).toEqual(everywhere(0));
    });

    test("a row for another org is refused, also over a row that is there", async () => {
      const inserts = await onEveryTable((table) =>
        refusal(idOf(ours), (tx) => insertFrom(tx, table, theirs.get(table.name))),
      );
      expect(inserts).toEqual(everywhere("42501"));
      const upserts = await onEveryTable((table) =>
        refusal(
          idOf(ours),
          (tx) => tx`${insertFrom(tx, table, theirs.get(table.name))} on conflict do nothing`,
        ),
      );
      expect(upserts).toEqual(everywhere("42501"));
    });

    test("its own row cannot be given to another org", async () => {
      const given = await onEveryTable(({ name, tenant }) =>
        refusal(
          idOf(ours),
          (tx) => tx`
          update ${sql(name)} set ${sql(tenant)} = ${idOf(theirs)} where ${sql(tenant)} = ${idOf(ours)}`,
        ),
      );
      expect(given).toEqual(everywhere("42501"));
    });

    test("tables cannot be emptied, locked against others or altered", async () => {
      for (const statement of ["truncate %", "alter table % disable row level security"]) {
        const refused = await onEveryTable(({ name }) =>
          refusal(idOf(ours), (tx) => tx.unsafe(statement.replace("%", `"${name}"`))),
        );
        expect(refused).toEqual(everywhere("42501"));
      }
    });
  });

  describe("with no org set", () => {
    test.each([
      ["never set", undefined],
      ["set to nothing", ""],
    ])("nothing is visible and nothing can be written (%s)", async (_how, orgId) => {
      const seen = await onEveryTable(({ name }) =>
        as(orgId, async (tx) => {
          const rows = await tx`select 1 from ${sql(name)}`;
          const deleted = await tx`delete from ${sql(name)}`;
          return rows.count + deleted.count;
        }),
      );
      expect(seen).toEqual(everywhere(0));
      const inserts = await onEveryTable((table) =>
        refusal(orgId, (tx) => insertFrom(tx, table, ours.get(table.name))),
      );
      expect(inserts).toEqual(everywhere("42501"));
    });

    test("what is no org's id is an error, not a way around", async () => {
      const seen = await onEveryTable(({ name }) =>
        refusal("*", (tx) => tx`select 1 from ${sql(name)}`),
      );
      expect(seen).toEqual(everywhere("22P02"));
    });
  });

  test.each(["commit", "roll back"])(
    "org and role are gone from the connection after a %s",
    async (end) => {
      const pid = () => sql`select pg_backend_pid() as pid`;
      const [before] = await pid();
      await sql
        .begin(async (tx) => {
          await tx`select set_config('role', ${ROLE}, true), set_config('app.org_id', ${idOf(ours)}, true)`;
          if (end === "roll back") throw new Error("undone");
        })
        .catch(() => {});
      const [after] = await sql<{ role: string; org: string | null }[]>`
      select current_user::text as role, nullif(current_setting('app.org_id', true), '') as org`;
      expect(after?.org).toBeNull();
      expect(after?.role).not.toBe(ROLE);
      expect(await as(undefined, (tx) => tx`select 1 from orgs`)).toHaveLength(0);
      expect(await pid()).toEqual([before]);
    },
  );

  test("even the owner of the tables cannot refer to another org's row", async () => {
    const crossed = tables.flatMap((table) =>
      table.references
        .filter(({ to }) => to !== "orgs" && !(to in READABLE))
        .map((reference) => ({ table, reference })),
    );
    expect(crossed.length).toBeGreaterThan(8);
    for (const { table, reference } of crossed) {
      const at = reference.columns.findIndex((column) => column !== "org_id");
      const column = reference.columns[at] ?? "";
      const target = theirs.get(reference.to)?.[reference.toColumns[at] ?? ""] as string;
      // Checks and their own row are out of the way first: what refuses has to be the reference, not a unique key.
      const write = sql.begin(async (tx) => {
        for (const check of table.checks) {
          await tx`alter table ${sql(table.name)} drop constraint ${sql(check)}`;
        }
        await tx`delete from ${sql(table.name)} where org_id = ${idOf(theirs)}`;
        await tx`update ${sql(table.name)} set ${sql(column)} = ${target} where org_id = ${idOf(ours)}`;
      });
      await expect(write, reference.name).rejects.toMatchObject({ code: "23503" });
    }
  });
});
