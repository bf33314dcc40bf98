import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { NewcomerRepository } from "./newcomer-repository.ts";
import type { Person, UserStatus } from "./person.ts";
import type { UserRepository } from "./repository.ts";

interface Scope {
  readonly orgId: string;
}

/** Somebody as an export names them. */
export interface Newcomer {
  readonly externalId: string;
  readonly username?: string | undefined;
  readonly firstName?: string | undefined;
}

/** The people of an import. Whoever is known keeps their names: those of an export may be old. */
export class Newcomers {
  readonly #people: NewcomerRepository;
  readonly #users: Pick<UserRepository, "keepUnlinked">;
  readonly #clock: Clock;

  constructor(
    people: NewcomerRepository,
    users: Pick<UserRepository, "keepUnlinked">,
    clock: Clock,
  ) {
    this.#people = people;
    this.#users = users;
    this.#clock = clock;
  }

  /** Until the transaction ends, none of them is linked to another person. To be asked before any other lock. */
  keepUnlinked(
    scope: Scope,
    channel: string,
    externalIds: readonly string[],
    tx: Tx,
  ): Promise<void> {
    const names = externalIds.map((externalId) => ({ channel, externalId }));
    return this.#users.keepUnlinked(scope, names, tx);
  }

  /** Those who are known, by external id. */
  known(
    scope: Scope,
    channel: string,
    externalIds: readonly string[],
    tx: Tx,
  ): Promise<Map<string, Person>> {
    return this.#people.find(scope, channel, externalIds, tx);
  }

  /** Makes people who are not known yet, unless somebody else makes them meanwhile. */
  async add(
    scope: Scope,
    channel: string,
    people: readonly Newcomer[],
    status: UserStatus,
    tx: Tx,
  ): Promise<Map<string, Person>> {
    if (people.length === 0) return new Map();
    const ids = people.map(({ externalId }) => externalId);
    await this.#people.lock(scope, channel, ids, tx);
    const meanwhile = await this.#people.find(scope, channel, ids, tx);
    const missing = people.filter(({ externalId }) => !meanwhile.has(externalId));
    if (missing.length === 0) return meanwhile;
    const first = { status, at: this.#clock() };
    const made = await this.#people.create(scope, channel, missing, first, tx);
    return new Map([...meanwhile, ...made]);
  }
}
