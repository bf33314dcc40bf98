import type { FastifyBaseLogger } from "fastify";
import type { KeyService } from "./access/service.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/client.ts";
import { isUnavailable } from "./db/faults.ts";
import type { Transactions } from "./db/tenant.ts";
import { AppError } from "./errors.ts";
import type { OrgService } from "./orgs/service.ts";

/** A database that starts beside us is there after a few tries; one that comes back is noticed within seconds. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5_000;

interface StartupDependencies {
  readonly database: Database;
  readonly orgs: OrgService;
  readonly keys: KeyService;
  readonly transactions: Transactions;
  readonly config: Config;
  /** Looks at the database once it can be used, before anybody else does. */
  readonly prepare: () => Promise<void>;
}

export interface StartupEvents {
  /** The database can be used. The first owner key is told once, when one was generated. */
  ready(ownerKey: string | undefined): void;
  /** A later attempt met what waiting cannot cure, e.g. an edited migration. */
  failed(error: unknown): void;
}

/** From an opened database to one that can be used. */
export class Startup {
  readonly #deps: StartupDependencies;
  #ready = false;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: StartupDependencies) {
    this.#deps = deps;
  }

  /** @throws AppError UNAVAILABLE until the database was migrated */
  requireReady(): void {
    if (this.#ready) return;
    throw new AppError("UNAVAILABLE", "the database cannot be reached yet", {
      hint: "The server keeps trying. Try again in a few seconds.",
    });
  }

  /** Resolves after the first attempt; rejects when waiting cannot cure what it met. */
  async run(log: FastifyBaseLogger, events: StartupEvents): Promise<void> {
    this.#deps.database.onTrouble((trouble) =>
      log.error({ trouble }, "the database needs somebody"),
    );
    try {
      await this.#attempt(log, events);
    } catch (error) {
      if (this.#deps.database.kind === "embedded" || !isUnavailable(error)) throw error;
      this.#runLater(error, log, events, FIRST_RETRY_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
  }

  #runLater(reason: unknown, log: FastifyBaseLogger, events: StartupEvents, delay: number): void {
    if (this.#stopped) return;
    const known = reason instanceof AppError ? { reason: reason.message } : {};
    log.warn({ err: reason, ...known }, "the database cannot be reached; trying again");
    this.#retry = setTimeout(() => {
      this.#attempt(log, events).catch((error: unknown) => {
        if (this.#stopped) return;
        if (!isUnavailable(error)) return events.failed(error);
        this.#runLater(error, log, events, Math.min(delay * 2, LONGEST_RETRY_MS));
      });
    }, delay);
  }

  async #attempt(log: FastifyBaseLogger, events: StartupEvents): Promise<void> {
    const ownerKey = await this.#prepare(log);
    if (this.#stopped) return;
    this.#ready = true;
    log.info("the database is ready");
    events.ready(ownerKey);
  }

  async #prepare(log: FastifyBaseLogger): Promise<string | undefined> {
    const { database } = this.#deps;
    const applied = await database.prepare();
    if (applied.length > 0) log.info({ applied }, "migrations applied");
    const first = await this.#bootstrap();
    await this.#deps.prepare();
    return first?.generated ? first.key : undefined;
  }

  #bootstrap() {
    const { orgs, keys, transactions, config } = this.#deps;
    return transactions.system("bootstrap", async (tx) => {
      const org = await orgs.ensure(config.DEFAULT_ORG, tx);
      // A key that nobody needs would be shown once, unheeded; the first start that asks for keys makes it.
      if (config.AUTH === "none" && config.OWNER_KEY === undefined) return undefined;
      return keys.bootstrap(org.id, config.OWNER_KEY, tx);
    });
  }
}
