import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { ContextRepository, PersonContext } from "./context.ts";
import { type Person, parsePersonRef, type Standing, type UserStatus } from "./person.ts";
import type { Profile, UserRepository } from "./repository.ts";

interface Scope {
  readonly orgId: string;
}

export class UserService {
  readonly #users: UserRepository;
  readonly #contexts: ContextRepository;
  readonly #defaultChannel: string;
  readonly #clock: Clock;

  constructor(
    users: UserRepository,
    contexts: ContextRepository,
    defaultChannel: string,
    clock: Clock,
  ) {
    this.#users = users;
    this.#contexts = contexts;
    this.#defaultChannel = defaultChannel;
    this.#clock = clock;
  }

  /** The person that a read names. An id of another org answers exactly as an unknown one: NOT_FOUND. */
  async find(scope: Scope, userId: string, tx: Tx): Promise<Person> {
    const ref = parsePersonRef(userId, this.#defaultChannel);
    const person =
      "internalId" in ref
        ? await this.#users.findInternal(scope, ref.internalId, tx)
        : await this.#users.findExternal(scope, ref, tx);
    if (!person) throw unknownPerson();
    return person;
  }

  /** Profile, entries and newest messages of a person. */
  async context(
    scope: Scope,
    userId: string,
    options: { recentLimit: number; keys: readonly string[] | undefined },
    tx: Tx,
  ): Promise<PersonContext> {
    const ref = parsePersonRef(userId, this.#defaultChannel);
    const context = await this.#contexts.read(scope, ref, options, tx);
    if (!context) throw unknownPerson();
    return context;
  }

  /**
   * The person that a write names, made (`approved`) when a channel's id is seen for the first time. An unknown
   * internal id is NOT_FOUND here too.
   */
  async findOrCreate(scope: Scope, userId: string, tx: Tx): Promise<Person> {
    const ref = parsePersonRef(userId, this.#defaultChannel);
    if ("internalId" in ref) return this.find(scope, userId, tx);
    return this.ensure(scope, ref, { status: "approved" }, tx);
  }

  /** The person behind a channel's id, made with the given status on first sight; keeps their current names. */
  async ensure(
    scope: Scope,
    ref: { channel: string; externalId: string },
    first: Profile & { status: UserStatus },
    tx: Tx,
  ): Promise<Person> {
    const known = await this.#users.findExternal(scope, ref, tx);
    if (known) {
      if (first.username !== undefined || first.firstName !== undefined) {
        await this.#users.updateProfile(scope, known, first, tx);
      }
      return known;
    }
    await this.#users.lockExternal(scope, ref, tx);
    const meanwhile = await this.#users.findExternal(scope, ref, tx);
    return meanwhile ?? (await this.#users.create(scope, ref, { ...first, at: this.#clock() }, tx));
  }

  /** @returns undefined for somebody who is not known, or not any more */
  standing(scope: Scope, userId: string, tx: Tx): Promise<Standing | undefined> {
    return this.#users.standing(scope, userId, tx);
  }

  /** Makes writers of one person take turns until the transaction ends. */
  lock(scope: Scope, person: Person, tx: Tx): Promise<void> {
    return this.#users.lock(scope, person.userId, tx);
  }

  /** Marks that a person stopped (a date) or restarted (null) taking messages on a channel. */
  setReachable(
    scope: Scope,
    ref: { channel: string; externalId: string },
    unreachableAt: Date | null,
    tx: Tx,
  ): Promise<void> {
    return this.#users.setReachable(scope, ref, unreachableAt, tx);
  }
}

export function unknownPerson(): AppError {
  return new AppError("NOT_FOUND", "nobody is known under this userId", {
    hint: "A person becomes known with the first message or the first write under channel:externalId.",
  });
}
