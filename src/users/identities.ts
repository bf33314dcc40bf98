import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { IdentityRepository } from "./identity-repository.ts";
import type { Standing, UserStatus } from "./person.ts";
import type { UserRepository } from "./repository.ts";
import { unknownPerson } from "./service.ts";

interface Scope {
  readonly orgId: string;
}

interface LinkablePerson extends Standing {
  readonly id: string;
  readonly createdAt: Date;
}

/** An identity and the person whose it is. */
interface HeldIdentity {
  readonly id: string;
  readonly userId: string;
  readonly channel: string;
  readonly externalId: string;
}

/** People held for a link or its undo: nobody writes to them under any of their names until the transaction ends. */
export interface HeldPeople {
  /** Those that were asked for, as they are now: never one that is linked into another. */
  readonly people: readonly LinkablePerson[];
  readonly identities: readonly HeldIdentity[];
  /** Everybody who was linked into one of them. */
  readonly linked: readonly string[];
}

/** Moves channel identities between people. */
export class Identities {
  readonly #users: UserRepository;
  readonly #identities: IdentityRepository;

  constructor(users: UserRepository, identities: IdentityRepository) {
    this.#users = users;
    this.#identities = identities;
  }

  /**
   * Holds people by all their names. What was linked meanwhile is followed to the person it is now.
   *
   * @throws AppError NOT_FOUND
   */
  async hold(scope: Scope, ids: readonly string[], tx: Tx): Promise<HeldPeople> {
    await this.#users.keepForLink(scope, ids.map(named), tx);
    const rows = await this.#identities.people(scope, ids, tx);
    if (rows.length < new Set(ids).size) throw unknownPerson();
    if (rows.some(({ linkedInto }) => linkedInto !== null)) {
      const now = rows.map(({ id, linkedInto }) => linkedInto ?? id);
      return this.hold(scope, [...new Set(now)], tx);
    }
    // Only a link changes what follows, and that would have to hold one of these people.
    const linked = await this.#identities.linkedInto(scope, ids, tx);
    const identities = await this.#identities.of(scope, ids, tx);
    await this.#users.keepForLink(scope, [...linked.map(named), ...identities], tx);
    const people = rows.map(({ linkedInto: _, ...person }) => person);
    return { people, linked, identities };
  }

  /** Gives identities to a person, and lets the ids of people mean that one, or themselves. */
  async move(
    scope: Scope,
    {
      identityIds,
      to,
      pointed,
    }: {
      readonly identityIds: readonly string[];
      readonly to: string;
      readonly pointed: readonly string[];
    },
    tx: Tx,
  ): Promise<void> {
    if (identityIds.length > 0) await this.#identities.move(scope, identityIds, to, tx);
    const others = pointed.filter((id) => id !== to);
    if (others.length > 0) await this.#identities.point(scope, others, to, tx);
    await this.#identities.point(scope, [to], null, tx);
  }

  /** Of somebody who is held. */
  async setStatus(
    scope: Scope,
    userId: string,
    status: UserStatus,
    at: Date,
    tx: Tx,
  ): Promise<void> {
    await this.#users.setStatus(scope, userId, status, at, tx);
  }

  /** @returns undefined for somebody who is not known */
  standing(scope: Scope, userId: string, tx: Tx): Promise<Standing | undefined> {
    return this.#users.standing(scope, userId, tx);
  }
}

/** @throws AppError CONFLICT */
export function requireNotBlocked(people: readonly Standing[]): void {
  if (people.every(({ status }) => status !== "blocked")) return;
  throw new AppError("CONFLICT", "one of them is blocked", {
    hint: "Approve them first, if that is meant.",
  });
}

const named = (internalId: string) => ({ internalId });
