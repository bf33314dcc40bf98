import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import manifest from "../package.json" with { type: "json" };
import { startPostgres } from "../test/support/postgres-server.ts";

export const ENGINES = ["pglite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

/** The variables that make a server use a database. */
export interface DatabaseEnv {
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR?: string | undefined;
}

/** Makes databases to measure on; none of them is one that anybody else uses. */
export interface DatabaseHost {
  readonly name: string;
  /** What a reader of the figures has to know of it: version, durability, buffers. */
  readonly description: string;
  /** Makes an empty database. */
  create(): Promise<DatabaseEnv>;
  /** Removes every database made here. */
  close(): Promise<void>;
}

export function openHost(engine: Engine): Promise<DatabaseHost> {
  return engine === "pglite" ? openPglite() : openPostgres();
}

async function openPglite(): Promise<DatabaseHost> {
  const made: string[] = [];
  const name = `PGlite ${manifest.dependencies["@electric-sql/pglite"]}`;
  return {
    name,
    description: `${name}: in a worker thread of the server's process, files in ${tmpdir()}, no fsync`,
    async create() {
      const directory = await mkdtemp(join(tmpdir(), "souvenir-bench-"));
      made.push(directory);
      return { DATA_DIR: directory };
    },
    async close() {
      for (const directory of made) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The server that DATABASE_URL or TEST_DATABASE_URL names, else one started here with PostgreSQL's own defaults. */
async function openPostgres(): Promise<DatabaseHost> {
  const { DATABASE_URL: given } = process.env;
  const server = given
    ? { url: given, origin: "DATABASE_URL", stop: async () => {} }
    : await startPostgres({ fsync: true });
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  const made: string[] = [];
  const close = async () => {
    for (const name of made) await sql.unsafe(`drop database ${name} with (force)`);
    await sql.end();
    await server.stop();
  };
  try {
    const [settings] = await sql<Record<string, string>[]>`
      select current_setting('server_version') as version, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit, current_setting('shared_buffers') as buffers`;
    const { version, fsync, commit, buffers } = settings ?? {};
    const name = `PostgreSQL ${version?.split(" ")[0]}`;
    return {
      name,
      description: `${name}: from ${server.origin}, fsync ${fsync}, synchronous_commit ${commit}, shared_buffers ${buffers}`,
      async create() {
        const name = `souvenir_bench_${randomBytes(6).toString("hex")}`;
        await sql.unsafe(`create database ${name}`);
        made.push(name);
        const url = new URL(server.url);
        url.pathname = `/${name}`;
        return { DATABASE_URL: url.href };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
