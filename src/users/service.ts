import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { ContextRepository, PersonContext } from "./context.ts";
import {
  isPhoneNumber,
  type Person,
  type PersonWithIdentities,
  parsePersonRef,
  type Standing,
  type UserStatus,
} from "./person.ts";
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

  /** As `find`, for somebody who looks through people: anybody but the person that a key is bound to is unknown to it. */
  async findWithin(principal: Principal, userId: string, tx: Tx): Promise<Person> {
    const person = await this.find(principal, userId, tx);
    if ((principal.pins.userId ?? person.userId) !== person.userId) throw unknownPerson();
    return person;
  }

  /** As `findToChange`, within the same bounds. */
  async findToChangeWithin(principal: Principal, userId: string, tx: Tx): Promise<Person> {
    await this.#users.keepUnlinked(principal, [parsePersonRef(userId, this.#defaultChannel)], tx);
    return this.findWithin(principal, userId, tx);
  }

  /** As `find`, for a write: until the transaction ends the person is not linked to another one. */
  async findToChange(scope: Scope, userId: string, tx: Tx): Promise<Person> {
    await this.#users.keepUnlinked(scope, [parsePersonRef(userId, this.#defaultChannel)], tx);
    return this.find(scope, userId, tx);
  }

  /** Until the transaction ends, the person with this internal id is not linked to another one. */
  keepUnlinked(scope: Scope, userId: string, tx: Tx): Promise<void> {
    return this.#users.keepUnlinked(scope, [{ internalId: userId }], tx);
  }

  /** As `findToChange`, with the identity only where the name is one: an internal id stands for all of the person. */
  async findNamed(scope: Scope, userId: string, tx: Tx): Promise<Person> {
    const person = await this.findToChange(scope, userId, tx);
    const isInternal = "internalId" in parsePersonRef(userId, this.#defaultChannel);
    return isInternal ? { ...person, identityId: null } : person;
  }

  /** The channels' ids of a person, oldest first. */
  identities(scope: Scope, userId: string, tx: Tx) {
    return this.#users.identitiesOf(scope, userId, tx);
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
    if ("internalId" in ref) return this.findToChange(scope, userId, tx);
    return this.ensure(scope, ref, { status: "approved" }, tx);
  }

  /** The person behind a channel's id, made with the given status on first sight; keeps their current names. */
  async ensure(
    scope: Scope,
    ref: { channel: string; externalId: string },
    first: Profile & { status: UserStatus },
    tx: Tx,
  ): Promise<Person> {
    await this.#users.keepUnlinked(scope, [ref], tx);
    const known = await this.#users.findExternal(scope, ref, tx);
    if (known) {
      await this.#refresh(scope, known, first, tx);
      return known;
    }
    return this.#create(scope, ref, first, tx);
  }

  /** Makes an external id known, approved, unless it is. Holds nothing, for whoever links people afterwards. */
  async makeKnown(scope: Scope, userId: string, tx: Tx): Promise<void> {
    const ref = parsePersonRef(userId, this.#defaultChannel);
    if ("internalId" in ref || (await this.#users.findExternal(scope, ref, tx))) return;
    await this.#create(scope, ref, { status: "approved" }, tx);
  }

  async #create(
    scope: Scope,
    ref: { channel: string; externalId: string },
    first: Profile & { status: UserStatus },
    tx: Tx,
  ): Promise<Person> {
    await this.#users.lockExternal(scope, ref, tx);
    const meanwhile = await this.#users.findExternal(scope, ref, tx);
    return meanwhile ?? (await this.#users.create(scope, ref, { ...first, at: this.#clock() }, tx));
  }

  /** What a channel calls a person, where it knows them by one id alone. */
  async onlyIdOn(
    scope: Scope,
    userId: string,
    channel: string,
    tx: Tx,
  ): Promise<string | undefined> {
    const ids = await this.#users.externalIds(scope, userId, channel, tx);
    return ids.length === 1 ? ids[0] : undefined;
  }

  /**
   * The person behind an id and the phone number that the platform shows with it: both become ids of that person. A number
   * whose person has another id already has passed on to somebody new, who must not inherit a memory.
   *
   * @returns with `twin` the person who had the number alone until now, and has to be the same
   */
  async ensureWithNumber(
    scope: Scope,
    ref: { channel: string; externalId: string; phoneNumber: string },
    first: Profile & { status: UserStatus },
    tx: Tx,
  ): Promise<{ person: Person; twin?: string }> {
    const users = this.#users;
    const { channel } = ref;
    const id = { channel, externalId: ref.externalId };
    const number = { channel, externalId: ref.phoneNumber };
    await users.keepUnlinked(scope, [id, number], tx);
    let byId = await users.findExternal(scope, id, tx);
    let byNumber = await users.findExternal(scope, number, tx);
    if (!byId || !byNumber) {
      await this.#lockExternal(scope, channel, [id.externalId, number.externalId], tx);
      byId = await users.findExternal(scope, id, tx);
      byNumber = await users.findExternal(scope, number, tx);
    }
    const holder = byNumber?.userId === byId?.userId ? undefined : byNumber;
    const ids = holder ? await users.externalIds(scope, holder.userId, channel, tx) : [];
    const hasItAlone = holder !== undefined && ids.every(isPhoneNumber);
    if (hasItAlone && !byId) {
      const person = await users.addIdentity(scope, holder, id, this.#clock(), tx);
      if (!person) throw new Error("an id was taken while it was locked");
      await this.#refresh(scope, person, first, tx);
      return { person };
    }
    if (byId) await this.#refresh(scope, byId, first, tx);
    const person = byId ?? (await this.#create(scope, id, first, tx));
    if (!byNumber) await users.addIdentity(scope, person, number, this.#clock(), tx);
    return hasItAlone ? { person, twin: holder.userId } : { person };
  }

  /**
   * Gives the person known by one of `earlier` the ids that the platform says are theirs too. A number that somebody else
   * has stays theirs.
   *
   * @returns the person, and whoever had one of the ids and has to be the same; undefined when nobody is known
   */
  async addIds(
    scope: Scope,
    channel: string,
    { earlier, ids }: { readonly earlier: readonly string[]; readonly ids: readonly string[] },
    tx: Tx,
  ): Promise<{ person: Person; twins: string[] } | undefined> {
    const users = this.#users;
    const named = [...earlier, ...ids].map((externalId) => ({ channel, externalId }));
    await users.keepUnlinked(scope, named, tx);
    await this.#lockExternal(scope, channel, [...earlier, ...ids], tx);
    let person: Person | undefined;
    for (const externalId of earlier) {
      person ??= await users.findExternal(scope, { channel, externalId }, tx);
    }
    if (!person) return undefined;
    const twins: string[] = [];
    for (const externalId of ids) {
      const ref = { channel, externalId };
      if (await users.addIdentity(scope, person, ref, this.#clock(), tx)) continue;
      const holder = await users.findExternal(scope, ref, tx);
      const isOther = holder !== undefined && holder.userId !== person.userId;
      if (isOther && !isPhoneNumber(externalId)) twins.push(holder.userId);
    }
    return { person, twins };
  }

  /** @returns undefined for somebody who is not known, or not any more */
  standing(scope: Scope, userId: string, tx: Tx): Promise<Standing | undefined> {
    return this.#users.standing(scope, userId, tx);
  }

  /** @returns undefined for somebody who is not known, or not any more */
  profile(scope: Scope, userId: string, tx: Tx): Promise<PersonWithIdentities | undefined> {
    return this.#users.profile(scope, userId, tx);
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

  async #refresh(scope: Scope, person: Person, profile: Profile, tx: Tx): Promise<void> {
    if (profile.username === undefined && profile.firstName === undefined) return;
    await this.#users.updateProfile(scope, person, profile, tx);
  }

  /** In one order, so that two who lock the same ids never wait for each other. */
  async #lockExternal(
    scope: Scope,
    channel: string,
    externalIds: readonly string[],
    tx: Tx,
  ): Promise<void> {
    for (const externalId of [...new Set(externalIds)].sort()) {
      await this.#users.lockExternal(scope, { channel, externalId }, tx);
    }
  }
}

export function unknownPerson(): AppError {
  return new AppError("NOT_FOUND", "nobody is known under this userId", {
    hint: "A person becomes known with the first message or the first write under channel:externalId.",
  });
}
