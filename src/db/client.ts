import postgres from "postgres";
import { openEmbedded } from "./embedded/embedded.ts";
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
  readonly #sql: postgres.Sql;
  readonly #closeEmbedded: () => Promise<void>;

  private constructor(
    kind: "embedded" | "postgres",
    sql: postgres.Sql,
    closeEmbedded: () => Promise<void>,
  ) {
    this.kind = kind;
    this.#sql = sql;
    this.#closeEmbedded = closeEmbedded;
    this.transactions = new Transactions(sql);
  }

  /**
   * Opens the embedded database, or makes the pool for PostgreSQL without connecting yet.
   *
   * @throws when another process holds the data directory; the message names its pid and the path
   */
  static async open({ url, dataDir }: DatabaseOptions): Promise<Database> {
    if (url === undefined) {
      const embedded = await openEmbedded(dataDir);
      const sql = postgres({ ...DRIVER, ...embedded.driverOptions });
      return new Database("embedded", sql as postgres.Sql, () => embedded.close());
    }
    const sql = postgres(url, {
      ...DRIVER,
      max: POOL_SIZE,
      connect_timeout: 5,
      // The driver's own backoff grows to 20 s and holds queries meanwhile; a webhook must be answered before that.
      backoff: () => 0.2,
      connection: { application_name: "souvenir", TimeZone: "UTC" },
    });
    return new Database("postgres", sql as postgres.Sql, () => Promise.resolve());
  }

  /**
   * Applies the migrations and proves that tenant transactions can take on their role.
   *
   * @returns the names of migrations applied now
   */
  async prepare(): Promise<string[]> {
    try {
      const applied = await migrate(this.#sql, await readMigrations(MIGRATIONS));
      await this.transactions.proveRole();
      return applied;
    } catch (error) {
      if (!isDenied(error)) throw error;
      throw new Error(MISSING_RIGHTS, { cause: error });
    }
  }

  /** Rejects with `UNAVAILABLE` when the database does not answer. */
  async ping(): Promise<void> {
    try {
      await this.#sql`select 1`;
    } catch (error) {
      throw safeError(error);
    }
  }

  /** Vacuum, checkpoint and the like: statements that cannot run inside a transaction. */
  async maintain(statement: "checkpoint" | "vacuum (analyze)"): Promise<void> {
    try {
      await this.#sql.unsafe(statement);
    } catch (error) {
      throw safeError(error);
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 });
    await this.#closeEmbedded();
  }
}
