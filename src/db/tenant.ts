import { AsyncLocalStorage } from "node:async_hooks";
import { sql } from "drizzle-orm";
import type { Connections, Orm } from "./connections.ts";
import { isDiskFull, isRetryable, safeError } from "./faults.ts";

/** A transaction: the only thing that repositories can query. */
export type Tx = Parameters<Parameters<Orm["transaction"]>[0]>[0];

/** A deadlock that comes back a third time is no accident. */
const ATTEMPTS = 3;

/** Why a transaction needs to see more than one org. */
export type SystemPurpose =
  | "key lookup"
  | "webhook routing"
  | "bootstrap"
  | "job queue"
  | "due facts"
  | "embedding models"
  | "due messages"
  | "forwarding"
  | "unfinished messages"
  | "retention"
  | "vector index"
  | "erasure"
  | "operator";

/** Nobody waits for them, and one statement may go through much. */
const AT_LEISURE: readonly SystemPurpose[] = ["retention", "vector index", "erasure"];
const LEISURE = 60;

interface TransactionOptions {
  /** Milliseconds to wait for a connection and for each answer; absent = for ever. */
  readonly patience?: number | undefined;
  /** Told of each transaction that failed because the disk is full. */
  readonly onDiskFull: () => void;
}

/** The only way to the database after the migrations. */
export class Transactions {
  readonly #connections: Connections;
  readonly #options: TransactionOptions;
  readonly #open = new AsyncLocalStorage<true>();

  constructor(connections: Connections, options: TransactionOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  /**
   * Runs `work` in a transaction that sees and writes rows of one org only: row-level security holds even where a
   * query forgot its tenant. Commits when `work` resolves; `work` may run again after a deadlock.
   */
  tenant<T>(scope: { readonly orgId: string }, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#tenant(scope, work, 1);
  }

  /** The same where nobody waits, and one statement may go through much of the org. */
  tenantAtLeisure<T>(scope: { readonly orgId: string }, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#tenant(scope, work, LEISURE);
  }

  #tenant<T>(
    { orgId }: { readonly orgId: string },
    work: (tx: Tx) => Promise<T>,
    leisure: number,
  ): Promise<T> {
    return this.#run(async (tx) => {
      await tx.execute(
        sql`select set_config('role', 'souvenir_app', true), set_config('app.org_id', ${orgId}, true)`,
      );
      return work(tx);
    }, leisure);
  }

  /** Runs `work` with sight of every org. The purpose says why, and a test lists who may ask for it. */
  system<T>(purpose: SystemPurpose, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#run(work, AT_LEISURE.includes(purpose) ? LEISURE : 1);
  }

  /** Rejects when the login role may not take on the role of tenant transactions. */
  async proveRole(): Promise<void> {
    await this.#run((tx) => tx.execute(sql`select set_config('role', 'souvenir_app', true)`), 1);
  }

  async #run<T>(work: (tx: Tx) => Promise<T>, leisure: number): Promise<T> {
    if (this.#open.getStore()) {
      // The embedded database has one connection: waiting for a second transaction here would never end.
      throw new Error("a transaction is open already: pass its tx on");
    }
    const { patience, onDiskFull } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#connections.use(
          ({ orm }) => orm.transaction((tx) => this.#open.run(true, () => work(tx))),
          patience && patience * leisure,
        );
      } catch (error) {
        if (attempt < ATTEMPTS && isRetryable(error)) continue;
        if (isDiskFull(error)) onDiskFull();
        throw safeError(error);
      }
    }
  }
}
