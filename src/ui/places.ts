import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import { FactScopeName } from "../facts/fact.ts";
import type { Place } from "../facts/review.ts";
import { type OrgService, StoreId } from "../orgs/service.ts";
import type { People } from "../users/people.ts";
import { type PersonCard, type PersonDetail, UserId } from "../users/person.ts";

/** How an address names a scope. */
export const PlaceQuery = z.object({
  scope: FactScopeName,
  userId: UserId.optional(),
  storeId: StoreId.optional(),
});

/** A scope with what people call it. */
export interface NamedPlace {
  readonly place: Place;
  readonly name: string;
}

/** A person as people know them: names, else an id that a channel gave, else ours. */
export function nameOf({ firstName, username, identities, id }: PersonCard): string {
  const handle = username === null ? undefined : `@${username}`;
  return [firstName, handle].filter(Boolean).join(" ") || (identities[0] ?? id);
}

/** The same of a person as their own page has them. */
export function nameOfDetail({ identities, ...person }: PersonDetail): string {
  const ids = identities.map(({ channel, externalId }) => `${channel}:${externalId}`);
  return nameOf({ ...person, identities: ids });
}

/** What else a person is known by on their channels. */
export function otherNames(person: PersonCard): string {
  const name = nameOf(person);
  return person.identities.filter((identity) => identity !== name).join(", ");
}

/** What scopes are called, by what they are named in `keyOfPlace`. */
export type Names = ReadonlyMap<string, string>;

/** What a scope is called among names that were looked up. */
export function nameIn(names: Names, place: Place): string {
  return names.get(keyOfPlace(place)) ?? "somebody";
}

function keyOfPlace({ scope, userId, storeId }: Place): string {
  return JSON.stringify([scope, userId, storeId]);
}

export class Places {
  readonly #people: People;
  readonly #orgs: OrgService;

  constructor(people: People, orgs: OrgService) {
    this.#people = people;
    this.#orgs = orgs;
  }

  /** What scopes that a key is shown are called, by their internal ids; people are looked up all at once. */
  async names(principal: Principal, all: readonly Place[]): Promise<Names> {
    const people = await this.#people.byIds(
      principal,
      all.flatMap(({ userId }) => userId ?? []),
    );
    const names = new Map<string, string>();
    for (const { scope, userId, storeId } of all) {
      const place = { scope, userId, storeId };
      const person = people.get(userId ?? "");
      if (names.has(keyOfPlace(place))) continue;
      if (scope !== "user") names.set(keyOfPlace(place), (await this.find(principal, place)).name);
      else if (person) names.set(keyOfPlace(place), nameOf(person));
    }
    return names;
  }

  /**
   * The scope that an address means, with internal ids. A key of one person is shown that person only, although its agent
   * recalls facts of the org too.
   *
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; INVALID_INPUT for a missing id
   */
  async find(principal: Principal, { scope, userId, storeId }: Place): Promise<NamedPlace> {
    requireShown(principal, scope);
    switch (scope) {
      case "org":
        return { place: { scope }, name: "the org" };
      case "store": {
        const id = required("storeId", storeId ?? principal.pins.storeId);
        const store = await this.#orgs.visibleStore(principal, id);
        return { place: { scope, storeId: store.id }, name: store.name };
      }
      case "user": {
        const id = required("userId", userId ?? principal.pins.userId);
        const person = await this.#people.find(principal, id);
        return { place: { scope, userId: person.id }, name: nameOf(person) };
      }
    }
  }
}

/** @throws AppError NOT_FOUND */
export function requireShown({ pins }: Principal, scope: FactScopeName): void {
  if (scope === "user" || pins.userId === undefined) return;
  throw new AppError("NOT_FOUND", "nothing is known at this address");
}

function required(name: string, id: string | undefined): string {
  if (id !== undefined) return id;
  throw new AppError("INVALID_INPUT", `the address needs a ${name}`);
}
