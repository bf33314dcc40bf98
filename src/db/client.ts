import postgres from "postgres";
import { Connections, type Open } from "./connections.ts";
import { type EmbeddedDatabase, openEmbedded } from "./embedded/embedded.ts";
import { isDenied, safeError } from "./faults.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { Transactions } from "./tenant.ts";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);
/** Enough for one process on a few cores; a query waits its turn rather than fail. */
const POOL_SIZE = 10;

export interface DatabaseOptions {
  /** PostgreSQL; absent = the embedded database under `dataDir`. */
  readonly url?: string | undefined;
  readonly dataDir: string;
  /** The embedded database under `dataDir`, when it is open already. */
  readonly embedded?: EmbeddedDatabase | undefined;
}

const MISSING_RIGHTS =
  "the user of DATABASE_URL lacks rights; as an administrator of that database run: CREATE ROLE souvenir_app NOLOGIN; " +
  "GRANT souvenir_app TO <user>; GRANT CREATE, USAGE ON SCHEMA public TO <user>;";

const DRIVER = {
  // Drizzle sends unnamed statements, and named ones hang behind a transaction pooler.
  prepare: false,
  fetch_types: false,
  onnotice: () => {},
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

/** The one connection to the one database; made in app.ts, handed to repositories through transactions. */
export class Database {
  readonly kind: "embedded" | "postgres";
  readonly transactions: Transactions;
  readonly #connections: Connections;
  readonly #closeEmbedded: () => Promise<void>;

  private constructor(
    kind: "embedded" | "postgres",
    connections: Connections,
    closeEmbedded: () => Promise<void>,
  ) {
    this.kind = kind;
    this.#connections = connections;
    this.#closeEmbedded = closeEmbedded;
    this.transactions = new Transactions(connections);
  }

  /**
   * Opens the embedded database, or makes the pool for PostgreSQL without connecting yet.
   *
   * @throws when another process holds the data directory; the message names its pid and the path
   */
  static async open({ url, dataDir, ...opened }: DatabaseOptions): Promise<Database> {
    if (url === undefined) {
      const embedded = opened.embedded ?? (await openEmbedded(dataDir));
      const open: Open = (onclose) =>
        postgres({ ...DRIVER, ...embedded.driverOptions, onclose }) as postgres.Sql;
      return new Database("embedded", new Connections(1, open), () => embedded.close());
    }
    const open: Open = (onclose) =>
      postgres(url, {
        ...DRIVER,
        max: 1,
        connect_timeout: 5,
        onclose,
        connection: { application_name: "souvenir", TimeZone: "UTC" },
      }) as postgres.Sql;
    return new Database("postgres", new Connections(POOL_SIZE, open), () => Promise.resolve());
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
      if (!isDenied(error)) throw error;
      throw new Error(MISSING_RIGHTS, { cause: error });
    }
  }

  async #migrate(): Promise<string[]> {
    const migrations = await readMigrations(MIGRATIONS);
    return this.#connections.use(({ sql }) => migrate(sql, migrations));
  }

  /** Rejects with `UNAVAILABLE` when the database does not answer. */
  async ping(): Promise<void> {
    try {
      await this.#connections.use(({ sql }) => sql`select 1`);
    } catch (error) {
      throw safeError(error);
    }
  }

  /** Vacuum, checkpoint and the like: statements that cannot run inside a transaction. */
  async maintain(statement: "checkpoint" | "vacuum (analyze)"): Promise<void> {
    try {
      await this.#connections.use(({ sql }) => sql.unsafe(statement));
    } catch (error) {
      throw safeError(error);
    }
  }

  async close(): Promise<void> {
    // After the five seconds that running calls get, this still fits into the ten that a supervisor gives.
    await this.#connections.end(2);
    await this.#closeEmbedded();
  }
}
