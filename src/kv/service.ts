import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { UserService } from "../users/service.ts";
import {
  type Entry,
  MAX_KEYS,
  MAX_TOTAL_BYTES,
  MAX_VALUE_BYTES,
  type WrittenEntry,
} from "./entry.ts";
import type { KvRepository, StoredEntry } from "./repository.ts";

export class KvService {
  readonly #kv: KvRepository;
  readonly #users: UserService;
  readonly #transactions: Transactions;
  readonly #clock: Clock;

  constructor(kv: KvRepository, users: UserService, transactions: Transactions, clock: Clock) {
    this.#kv = kv;
    this.#users = users;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  /**
   * Writes entries of one person: all of them or none.
   *
   * @throws AppError INVALID_INPUT for a repeated key; LIMIT_EXCEEDED; NOT_FOUND for an unknown internal id
   */
  store(principal: Principal, userId: string, entries: readonly Entry[]): Promise<WrittenEntry[]> {
    return this.#transactions.tenant(principal, (tx) =>
      this.storeIn(principal, userId, entries, tx),
    );
  }

  /** As `store`, owned by the caller's transaction. */
  async storeIn(
    principal: Principal,
    userId: string,
    entries: readonly Entry[],
    tx: Tx,
  ): Promise<WrittenEntry[]> {
    const stored = entries.map(toStored);
    refuseRepeatedKeys(stored);
    const by = {
      keyId: principal.keyId,
      agentId: principal.pins.agentId ?? principal.defaultAgent,
      at: this.#clock(),
    };
    const person = await this.#users.findOrCreate(principal, userId, tx);
    await this.#users.lock(principal, person, tx);
    const written = await this.#kv.upsert(principal, person, stored, by, tx);
    await this.#refuseOverLimit(principal, person.userId, tx);
    return written;
  }

  /** @returns how many of the keys there were */
  forget(principal: Principal, userId: string, keys: readonly string[]): Promise<number> {
    return this.#transactions.tenant(principal, async (tx) => {
      const person = await this.#users.findToChange(principal, userId, tx);
      return this.#kv.delete(principal, person.userId, keys, tx);
    });
  }

  async #refuseOverLimit(principal: Principal, userId: string, tx: Tx): Promise<void> {
    const usage = await this.#kv.usage(principal, userId, tx);
    if (usage.keys > MAX_KEYS) {
      throw new AppError("LIMIT_EXCEEDED", `a person has at most ${MAX_KEYS} keys`, {
        hint: "Nothing was stored. Remove keys with forget_memory, or put related values under one key.",
      });
    }
    if (usage.bytes > MAX_TOTAL_BYTES) {
      throw new AppError("LIMIT_EXCEEDED", "a person's values take at most 1 MiB together", {
        hint: "Nothing was stored. Remove keys with forget_memory, or store less.",
      });
    }
  }
}

function toStored({ key, value }: Entry): StoredEntry {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_VALUE_BYTES) return { key, value: text, bytes };
  throw new AppError(
    "LIMIT_EXCEEDED",
    `the value of ${JSON.stringify(key)} is ${bytes} bytes as JSON; at most ${MAX_VALUE_BYTES} fit`,
    { hint: "Nothing was stored. Split it over several keys or store a summary." },
  );
}

function refuseRepeatedKeys(entries: readonly StoredEntry[]): void {
  const seen = new Set<string>();
  for (const { key } of entries) {
    if (seen.has(key)) {
      throw new AppError("INVALID_INPUT", `entries: the key ${JSON.stringify(key)} is repeated`, {
        hint: "Nothing was stored. Send each key once.",
      });
    }
    seen.add(key);
  }
}
