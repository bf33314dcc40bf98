import { sql } from "drizzle-orm";
import { isDenied } from "../db/faults.ts";
import type { Tx } from "../db/tenant.ts";

/** Any fixed number that differs from the migrations' own: starting processes wait for each other. */
const LOCK = 7_236_412;

/** How the table holds vectors. `indexable`: pgvector can search through an index without losing results. */
export type Storage = { readonly kind: "vector"; readonly indexable: boolean } | { kind: "array" };

interface Extension {
  readonly isUsable: boolean;
  /** What keeps it from being used, or used well, and the cure. */
  readonly notice: string | undefined;
}

const FALLBACK =
  "vectors are kept as plain arrays and compared one by one, at most 20,000 a search";

/**
 * Makes the table of vectors, which no migration can: its column is of pgvector's type where that is to be had, and a
 * plain array elsewhere. Where pgvector came meanwhile, the column becomes its own. In the caller's transaction: the
 * table is there whole or not at all.
 *
 * @returns a sentence for the operator where something is missing
 */
export async function prepareTable(tx: Tx): Promise<string | undefined> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`);
  const { isUsable, notice } = await prepareExtension(tx);
  const type = await columnType(tx);
  if (type === undefined) {
    await createTable(isUsable ? "vector" : "real[]", tx);
  } else if (type === "real[]" && isUsable) {
    await tx.execute(sql`alter table embeddings alter column v type vector using v::vector`);
  }
  return notice;
}

/** @returns undefined before the table was made */
export async function storageOf(tx: Tx): Promise<Storage | undefined> {
  const type = await columnType(tx);
  if (type === undefined) return undefined;
  if (type === "real[]") return { kind: "array" };
  const [extension] = await tx.execute<{ version: string }>(
    sql`select extversion as version from pg_extension where extname = 'vector'`,
  );
  return { kind: "vector", indexable: scansOn(extension?.version ?? "0") };
}

async function columnType(tx: Tx): Promise<string | undefined> {
  const [column] = await tx.execute<{ type: string }>(sql`
    select format_type(atttypid, null) as type from pg_attribute
    where attrelid = to_regclass('embeddings') and attname = 'v'`);
  return column?.type;
}

async function prepareExtension(tx: Tx): Promise<Extension> {
  const installed = (await readExtension(tx)) ?? (await installExtension(tx));
  if (typeof installed === "string") {
    return { isUsable: false, notice: `${installed}; until then ${FALLBACK}` };
  }
  const { schema, version, visible } = installed;
  if (!visible) {
    const cure = `GRANT USAGE ON SCHEMA "${schema}" TO souvenir_app, and name that schema in search_path`;
    const notice = `pgvector lies where it cannot be used; as an administrator run: ${cure}; until then ${FALLBACK}`;
    return { isUsable: false, notice };
  }
  if (scansOn(version)) return { isUsable: true, notice: undefined };
  const cure = "install pgvector 0.8 and run: ALTER EXTENSION vector UPDATE";
  return {
    isUsable: true,
    notice: `pgvector ${version} has no iterative scans, so that large scopes are searched without an index; ${cure}`,
  };
}

type Installed = { readonly schema: string; readonly version: string; readonly visible: boolean };

async function readExtension(tx: Tx): Promise<Installed | undefined> {
  const [row] = await tx.execute<Installed>(sql`
    select n.nspname as schema, e.extversion as version,
      to_regtype('vector') is not null and has_schema_privilege('souvenir_app', n.oid, 'usage') as visible
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`);
  return row;
}

/** @returns the extension, or what an administrator does about its absence */
async function installExtension(tx: Tx): Promise<Installed | string> {
  const available = await tx.execute(
    sql`select 1 from pg_available_extensions where name = 'vector'`,
  );
  if (available.length === 0) {
    return "this PostgreSQL has no pgvector; install it on the database's server and start again";
  }
  try {
    // A savepoint: refused, it must not take the rest of the transaction with it.
    await tx.transaction((inner) => inner.execute(sql`create extension vector`));
  } catch (error) {
    if (!isDenied(error)) throw error;
    return "the user of DATABASE_URL may not install pgvector; as an administrator of that database run: CREATE EXTENSION vector; and start again";
  }
  const installed = await readExtension(tx);
  if (!installed) throw new Error("pgvector was installed and is not there");
  return installed;
}

/** From 0.8 on an index is searched on until enough was found. */
function scansOn(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 0 || minor >= 8;
}

/**
 * Rows are of the org of their document, move with it to another scope and go with it, whoever deletes it. Its key begins
 * as a scope is read and as a document is deleted: with an index for each, the planner took the one of the scope for a
 * document while the table had no statistics yet.
 */
async function createTable(type: "vector" | "real[]", tx: Tx): Promise<void> {
  const org = sql.raw("nullif(current_setting('app.org_id', true), '')::uuid");
  const statements = [
    sql`create table embeddings (
      org_id uuid not null,
      scope_id bigint not null,
      document_id uuid not null,
      model_id smallint not null references embedding_models (id) on delete cascade,
      part smallint not null,
      v ${sql.raw(type)} not null,
      primary key (org_id, scope_id, document_id, model_id, part),
      constraint embeddings_part check (part between 0 and 3),
      constraint embeddings_document_fk foreign key (org_id, scope_id, document_id)
        references search_documents (org_id, scope_id, id) on delete cascade on update cascade)`,
    sql`alter table embeddings enable row level security`,
    sql`create policy embeddings_tenant on embeddings as permissive for all to souvenir_app
      using (org_id = ${org}) with check (org_id = ${org})`,
    sql`grant select, insert, update, delete on embeddings to souvenir_app`,
  ];
  for (const statement of statements) await tx.execute(statement);
}
