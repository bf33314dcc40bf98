import { drizzle } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { AppError } from "../errors.ts";
import { isUnavailable, OutcomeUnknown } from "./faults.ts";

export type Orm = ReturnType<typeof drizzle>;
type TransactionWork<T> = (tx: postgres.TransactionSql) => Promise<T>;
/** Makes an instance of the driver with `max: 1` that calls `onclose` when its socket closed, and tells what the server says. */
export type Open = (
  onclose: () => void,
  onnotice: (notice: postgres.Notice) => void,
) => postgres.Sql;

const KEPT_NOTICES = 20;

interface Connection {
  readonly sql: postgres.Sql;
  readonly orm: Orm;
  readonly isLost: boolean;
  /** What the server said beside its answers, for who asks it to: the last few. */
  readonly notices: postgres.Notice[];
  /** From now on until `undefined`, whoever uses it is told a loss when it is silent for so many milliseconds. */
  patience: number | undefined;
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
  readonly #waiting = new Set<(connection: Connection) => void>();
  #isClosed = false;

  constructor(size: number, open: Open) {
    this.#size = size;
    this.#open = open;
  }

  /**
   * Runs `work` on a connection that nobody else uses meanwhile; waits for one while all are taken.
   *
   * @param patience milliseconds that the wait for a connection may take, and each wait for an answer on it; without
   *   it both wait for ever. A server that stands still closes no socket.
   */
  async use<T>(work: (connection: Connection) => Promise<T>, patience?: number): Promise<T> {
    const connection = await this.#take(patience);
    connection.patience = patience;
    try {
      return await work(connection);
    } finally {
      connection.patience = undefined;
      this.#giveBack(connection);
    }
  }

  /** Ends every connection; what runs on them gets `seconds` to finish. Later calls are UNAVAILABLE. */
  async end(seconds: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map(({ sql }) => sql.end({ timeout: seconds })));
  }

  async #take(patience: number | undefined): Promise<Connection> {
    if (this.#isClosed) throw new AppError("UNAVAILABLE", "the database is closed");
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle;
      this.#discard(idle);
    }
    if (this.#all.size < this.#size) return this.#connect();
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    this.#waiting.add(resolve);
    const limit =
      patience &&
      setTimeout(() => {
        this.#waiting.delete(resolve);
        reject(new ConnectionLost("CONNECTION_AWAITED_IN_VAIN"));
      }, patience);
    return promise.finally(() => clearTimeout(limit));
  }

  #giveBack(connection: Connection): void {
    const isUsable = !connection.isLost || this.#isClosed;
    if (!isUsable) this.#discard(connection);
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next(isUsable ? connection : this.#connect());
    } else if (isUsable) this.#idle.push(connection);
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
  const silence = new Silence(() => {
    lose("CONNECTION_SILENT");
    // Also answers a query outside a transaction. A server that stands still would keep the socket open for ever.
    void sql.end({ timeout: 0 });
  });
  let isLost = false;
  let tellLoss = (_code: string): void => {};
  const lose = (code: string): void => {
    isLost = true;
    tellLoss(code);
  };
  const notices: postgres.Notice[] = [];
  const sql = open(
    () => lose("CONNECTION_CLOSED"),
    (notice) => {
      if (notices.push(notice) > KEPT_NOTICES) notices.shift();
    },
  );
  const begin = sql.begin.bind(sql) as (work: TransactionWork<unknown>) => Promise<unknown>;
  const guarded = async (work: TransactionWork<unknown>): Promise<unknown> => {
    // The driver tells a transaction of a loss only once its work has begun: one between BEGIN and that would leave it
    // waiting for ever.
    const loss = new Promise<never>((_, reject) => {
      tellLoss = (code) => reject(new ConnectionLost(code));
    });
    if (isLost) tellLoss("CONNECTION_CLOSED");
    let isOver = false;
    let isCommitting = false;
    const transaction = begin(async (tx) => {
      if (silence.patience) limitOnServer(tx, silence.patience);
      watchQueries(tx, () => isOver || isLost, silence);
      try {
        const result = await work(tx);
        silence.restart();
        isCommitting = true;
        return result;
      } finally {
        // The driver would now write COMMIT or ROLLBACK to a socket that is gone, which ends the process. The loss was
        // told, so nobody waits here.
        if (isLost) await new Promise<never>(() => {});
      }
    });
    try {
      return await Promise.race([loss, transaction]);
    } catch (error) {
      throw isCommitting && isUnavailable(error) ? new OutcomeUnknown(error) : error;
    } finally {
      isOver = true;
    }
  };
  sql.begin = guarded as typeof sql.begin;
  return {
    sql,
    orm: drizzle(sql),
    notices,
    get isLost() {
      return isLost;
    },
    get patience() {
      return silence.patience;
    },
    set patience(milliseconds) {
      silence.patience = milliseconds;
    },
  };
}

/** Calls `onBroken` when nobody restarted it for as long as its patience lasts. */
class Silence {
  readonly #onBroken: () => void;
  #patience: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onBroken: () => void) {
    this.#onBroken = onBroken;
  }

  get patience(): number | undefined {
    return this.#patience;
  }

  set patience(milliseconds: number | undefined) {
    this.#patience = milliseconds;
    this.restart();
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#patience ? setTimeout(this.#onBroken, this.#patience) : undefined;
  }
}

/**
 * PostgreSQL gives up a little before we do, so that it is the one to say why and holds no lock for somebody who left.
 * Sent together with the transaction's first query: it costs no wait. Not a query itself, so that one may still choose
 * the isolation. As settings of the transaction they pass through
 * a pooler, which refuses them at the start of a connection.
 */
function limitOnServer(tx: postgres.TransactionSql, patience: number): void {
  const limits = {
    statement_timeout: 0.8,
    lock_timeout: 0.5,
    idle_in_transaction_session_timeout: 1,
  };
  const settings = Object.entries(limits).map(
    ([name, part]) => `set local ${name} = ${Math.round(patience * part)}`,
  );
  // When it fails the transaction does: the driver keeps the first error of a transaction.
  void tx.unsafe(settings.join(";")).execute();
}

/** Named as the driver names it, so that it counts as an outage. */
class ConnectionLost extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** A query that comes after the end would run on the same connection inside the next transaction, which is another org's. */
function watchQueries(tx: postgres.TransactionSql, isOver: () => boolean, silence: Silence): void {
  const unsafe = tx.unsafe.bind(tx);
  const checked: typeof tx.unsafe = (...query) => {
    if (isOver()) throw new Error("the transaction of this query is over");
    silence.restart();
    return unsafe(...query);
  };
  tx.unsafe = checked;
}
