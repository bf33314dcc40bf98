import { drizzle } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { AppError } from "../errors.ts";

export type Orm = ReturnType<typeof drizzle>;
type TransactionWork<T> = (tx: postgres.TransactionSql) => Promise<T>;
/** Makes an instance of the driver with `max: 1` that calls `onclose` when its socket closed. */
export type Open = (onclose: () => void) => postgres.Sql;

interface Connection {
  readonly sql: postgres.Sql;
  readonly orm: Orm;
  isLost: boolean;
}

/**
 * A pool of postgres.js instances of one connection each, which are thrown away once their socket was lost. The driver's
 * own pool connects again with what it kept of a lost connection and then answers with that one's last error or not at
 * all (porsager/postgres#1208): each restart of PostgreSQL would cost connections until none is left.
 */
export class Connections {
  readonly #size: number;
  readonly #open: Open;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #isClosed = false;

  constructor(size: number, open: Open) {
    this.#size = size;
    this.#open = open;
  }

  /** Runs `work` on a connection that nobody else uses meanwhile; waits for one while all are taken. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      this.#giveBack(connection);
    }
  }

  /** Ends every connection; what runs on them gets `seconds` to finish. Later calls are UNAVAILABLE. */
  async end(seconds: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map(({ sql }) => sql.end({ timeout: seconds })));
  }

  async #take(): Promise<Connection> {
    if (this.#isClosed) throw new AppError("UNAVAILABLE", "the database is closed");
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle;
      this.#discard(idle);
    }
    if (this.#all.size < this.#size) return this.#connect();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #giveBack(connection: Connection): void {
    const isUsable = !connection.isLost || this.#isClosed;
    if (!isUsable) this.#discard(connection);
    const next = this.#waiting.shift();
    if (next) next(isUsable ? connection : this.#connect());
    else if (isUsable) this.#idle.push(connection);
  }

  #connect(): Connection {
    const connection = connectionOf(this.#open);
    this.#all.add(connection);
    return connection;
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    // Stops the driver's timers; without a socket there is nothing to wait for.
    void connection.sql.end({ timeout: 0 });
  }
}

function connectionOf(open: Open): Connection {
  const connection = { isLost: false };
  let tellLoss = (): void => {};
  const sql = open(() => {
    connection.isLost = true;
    tellLoss();
  });
  const begin = sql.begin.bind(sql) as (work: TransactionWork<unknown>) => Promise<unknown>;
  const guarded = async (work: TransactionWork<unknown>): Promise<unknown> => {
    // The driver tells a transaction of a loss only once its work has begun: one between BEGIN and that would leave it
    // waiting for ever.
    const loss = new Promise<never>((_, reject) => {
      tellLoss = () => reject(new ConnectionLost());
    });
    if (connection.isLost) tellLoss();
    let isOver = false;
    const transaction = begin(async (tx) => {
      refuseQueries(tx, () => isOver || connection.isLost);
      try {
        return await work(tx);
      } finally {
        // The driver would now write COMMIT or ROLLBACK to a socket that is gone, which ends the process. The loss was
        // told, so nobody waits here.
        if (connection.isLost) await new Promise<never>(() => {});
      }
    });
    try {
      return await Promise.race([loss, transaction]);
    } finally {
      isOver = true;
    }
  };
  sql.begin = guarded as typeof sql.begin;
  return Object.assign(connection, { sql, orm: drizzle(sql) });
}

/** Named as the driver names it, so that it counts as an outage. */
class ConnectionLost extends Error {
  readonly code = "CONNECTION_CLOSED";
}

/** A query that comes after the end would run on the same connection inside the next transaction, which is another org's. */
function refuseQueries(tx: postgres.TransactionSql, isOver: () => boolean): void {
  const unsafe = tx.unsafe.bind(tx);
  const checked: typeof tx.unsafe = (...query) => {
    if (isOver()) throw new Error("the transaction of this query is over");
    return unsafe(...query);
  };
  tx.unsafe = checked;
}
