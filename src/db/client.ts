import postgres from "postgres";
import { asksForTls, ipv6Hosts } from "../database-url.ts";
import { AppError } from "../errors.ts";
import { Connections, type Open } from "./connections.ts";
import { type EmbeddedDatabase, openEmbedded } from "./embedded/embedded.ts";
import { isDenied, isMissingSchema, isReset, safeError } from "./faults.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { Transactions } from "./tenant.ts";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);
/** Enough for one process on a few cores; a query waits its turn rather than fail. */
const POOL_SIZE = 10;
/** A database that is silent for longer is taken for one that stands still; well below what clients wait for an answer. */
const PATIENCE_MS = 10_000;

export interface DatabaseOptions {
  /** PostgreSQL; absent = the embedded database under `dataDir`. */
  readonly url?: string | undefined;
  readonly dataDir: string;
  /** The embedded database under `dataDir`, when it is open already. */
  readonly embedded?: EmbeddedDatabase | undefined;
  /** Of PostgreSQL: milliseconds after which its silence is an outage; migrations wait for ever. Default 10 s. */
  readonly patience?: number;
}

/** A connection for statements outside of transactions. */
export interface Session {
  run<Row extends object>(statement: string): Promise<readonly Row[]>;
  /** What the server said beside its answers. */
  readonly notices: { readonly detail?: string }[];
}

const MISSING_RIGHTS =
  "the user of DATABASE_URL lacks rights; as an administrator of that database run: CREATE ROLE souvenir_app NOLOGIN; " +
  "GRANT souvenir_app TO <user>; GRANT CREATE, USAGE ON SCHEMA public TO <user>;";

const MISSING_SCHEMA =
  "search_path, in DATABASE_URL or of its user, names no schema that exists; as its owner run: CREATE SCHEMA <name>;";
const NO_TLS =
  "the server of DATABASE_URL hung up when TLS was to begin: sslmode asks for TLS, and it may have none";

const DRIVER = {
  // Drizzle sends unnamed statements, and named ones hang behind a transaction pooler.
  prepare: false,
  fetch_types: false,
  // JSON stays text on both ways: the repositories parse it once (see schema/columns.ts).
  types: {
    json: {
      to: 114,
      from: [114, 3802],
      serialize: (text: string) => text,
      parse: (text: string) => text,
    },
  },
};

/** Reads may go on while the disk is full, so only a write that failed tells. Checks of readiness come more often. */
const FULL_FOR_MS = 15_000;
/** A graph of 100,000 vectors of 384 numbers fits; with the default 64 MB its second half took most of the time. */
const MAINTENANCE_MEMORY = "256MB";
/** The same trouble is told again after so long: each call meets it. */
const TOLD_AGAIN_MS = 60_000;

/** The one connection to the one database; made in app.ts, handed to repositories through transactions. */
export class Database {
  readonly kind: "embedded" | "postgres";
  readonly transactions: Transactions;
  readonly #connections: Connections;
  readonly #patience: number | undefined;
  readonly #asksForTls: boolean;
  readonly #embedded: EmbeddedDatabase | undefined;
  readonly #told = new Map<string, number>();
  #onTrouble = (_trouble: string): void => {};
  #fullAt = Number.NEGATIVE_INFINITY;

  private constructor(
    connections: Connections,
    of: { embedded: EmbeddedDatabase } | { patience: number; asksForTls: boolean },
  ) {
    this.#connections = connections;
    // The embedded database has one connection and cannot cancel: who waits longer than others is still served.
    this.#patience = "patience" in of ? of.patience : undefined;
    this.#asksForTls = "asksForTls" in of && of.asksForTls;
    this.#embedded = "embedded" in of ? of.embedded : undefined;
    this.kind = this.#embedded ? "embedded" : "postgres";
    this.transactions = new Transactions(connections, {
      patience: this.#patience,
      onDiskFull: () => {
        this.#fullAt = performance.now();
        this.#tell("a write failed: no space is left for the database");
      },
    });
    this.#embedded?.onTrouble((trouble) => this.#tell(trouble));
  }

  /** From now on the listener is told, in a sentence that may be logged, what somebody has to act on. */
  onTrouble(listener: (trouble: string) => void): void {
    this.#onTrouble = listener;
  }

  #tell(trouble: string): void {
    const now = performance.now();
    if (now - (this.#told.get(trouble) ?? Number.NEGATIVE_INFINITY) < TOLD_AGAIN_MS) return;
    this.#told.set(trouble, now);
    this.#onTrouble(trouble);
  }

  /**
   * Opens the embedded database, or makes the pool for PostgreSQL without connecting yet.
   *
   * @throws when another process holds the data directory; the message names its pid and the path
   */
  static async open({ url, dataDir, ...options }: DatabaseOptions): Promise<Database> {
    if (url === undefined) {
      const embedded = options.embedded ?? (await openEmbedded(dataDir));
      const open: Open = (onclose, onnotice) =>
        postgres({ ...DRIVER, ...embedded.driverOptions, onclose, onnotice }) as postgres.Sql;
      return new Database(new Connections(1, open), { embedded });
    }
    const open: Open = (onclose, onnotice) =>
      postgres(url, {
        ...DRIVER,
        // Lists, of which its types know nothing.
        ...(ipv6Hosts(url) as object),
        max: 1,
        connect_timeout: 5,
        onclose,
        onnotice,
        connection: { application_name: "souvenir", TimeZone: "UTC" },
      }) as postgres.Sql;
    const { patience = PATIENCE_MS } = options;
    return new Database(new Connections(POOL_SIZE, open), {
      patience,
      asksForTls: asksForTls(url),
    });
  }

  /**
   * Applies the migrations and proves that tenant transactions can take on their role.
   *
   * @returns the names of migrations applied now
   */
  async prepare(): Promise<string[]> {
    try {
      const applied = await this.#migrate();
      await this.transactions.proveRole();
      return applied;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** What waiting does not cure, or hardly, in a sentence that says what does. */
  #explained(cause: unknown): unknown {
    if (isDenied(cause)) return new Error(MISSING_RIGHTS, { cause });
    if (isMissingSchema(cause)) return new Error(MISSING_SCHEMA, { cause });
    if (this.#asksForTls && isReset(cause)) return new AppError("UNAVAILABLE", NO_TLS, { cause });
    return cause;
  }

  async #migrate(): Promise<string[]> {
    const migrations = await readMigrations(MIGRATIONS);
    return this.#connections.use(({ sql }) => migrate(sql, migrations));
  }

  /** Rejects with `UNAVAILABLE` when the database does not answer, or had no room for a write a moment ago. */
  async ping(): Promise<void> {
    if (performance.now() - this.#fullAt < FULL_FOR_MS) {
      throw new AppError("UNAVAILABLE", "no space is left for the database");
    }
    try {
      await this.#connections.use(({ sql }) => sql`select 1`, this.#patience);
    } catch (error) {
      throw safeError(error);
    }
  }

  /** Statements that cannot run inside a transaction, or may take long: no limit of time ends them. */
  async maintain(
    statement:
      | "checkpoint"
      | "vacuum (analyze)"
      | `create index ${string}`
      | `drop index ${string}`,
  ): Promise<void> {
    await this.session(({ run }) => run(statement));
  }

  /** A connection as the owner of the tables, for several of these. Fixed statements alone: nothing is escaped. */
  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await this.#connections.use(async ({ sql, notices }) => {
        await sql.unsafe(`set maintenance_work_mem to '${MAINTENANCE_MEMORY}'`);
        try {
          return await work({ run: (statement) => sql.unsafe(statement), notices });
        } finally {
          await sql.unsafe("reset maintenance_work_mem");
        }
      });
    } catch (error) {
      throw safeError(error);
    }
  }

  async close(): Promise<void> {
    // After the five seconds that running calls get, this still fits into the ten that a supervisor gives.
    await this.#connections.end(2);
    await this.#embedded?.close();
  }
}
