import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import type { Transactions } from "../db/tenant.ts";
import { pageOf } from "../page.ts";
import { isUuid } from "../uuid.ts";
import type { PeopleRepository } from "./people-repository.ts";
import { type PersonCard, type PersonDetail, UserStatus } from "./person.ts";
import { type UserService, unknownPerson } from "./service.ts";

const PAGE = 50;

/** What to look for among the people of an org. */
export const PeopleQuery = z.object({
  /** An internal id, or a part of a name or of `channel:externalId`; a leading @ is left out. */
  search: z
    .string()
    .trim()
    .max(320)
    .transform((text) => text.replace(/^@/, ""))
    .optional(),
  status: UserStatus.optional(),
  before: z.uuid("not a cursor of this list").optional(),
});
export type PeopleQuery = z.output<typeof PeopleQuery>;

export interface PeoplePage {
  readonly people: readonly PersonCard[];
  /** The `before` of the next page; null at the end. */
  readonly nextBefore: string | null;
}

export interface PeopleDependencies {
  readonly people: PeopleRepository;
  readonly users: UserService;
  readonly transactions: Transactions;
}

/** The people of an org as somebody looks through them: within the key's pins. */
export class People {
  readonly #deps: PeopleDependencies;

  constructor(deps: PeopleDependencies) {
    this.#deps = deps;
  }

  /** Newest first, 50 a page. */
  list(principal: Principal, { search, status, before }: PeopleQuery): Promise<PeoplePage> {
    const { people, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const filter = {
        ...(search && isUuid(search) ? { id: search } : { search: search || undefined }),
        status,
        before,
        limit: PAGE + 1,
      };
      const pinned = principal.pins.userId;
      const rows = await people.list(
        principal,
        pinned === undefined ? filter : { id: pinned, limit: 1 },
        tx,
      );
      const { page, nextBefore } = pageOf(rows, PAGE);
      return { people: page, nextBefore };
    });
  }

  /** @throws AppError NOT_FOUND for foreign ids and outside the key's pins */
  find(principal: Principal, userId: string): Promise<PersonCard> {
    const { people, users, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const { userId: id } = await users.findWithin(principal, userId, tx);
      const [card] = await people.list(principal, { id, limit: 1 }, tx);
      if (!card) throw unknownPerson();
      return card;
    });
  }

  /** Many people by their internal ids, as `find` has each; whom a key may not see is left out. */
  async byIds(
    principal: Principal,
    userIds: readonly string[],
  ): Promise<ReadonlyMap<string, PersonCard>> {
    if (userIds.length === 0) return new Map();
    const { people, transactions } = this.#deps;
    const found = await transactions.tenant(principal, (tx) =>
      people.byIds(principal, userIds, tx),
    );
    const pinned = principal.pins.userId;
    return pinned === undefined ? found : new Map([...found].filter(([, { id }]) => id === pinned));
  }

  /** A person as their own page shows them. @throws AppError as `find` */
  detail(principal: Principal, userId: string): Promise<PersonDetail> {
    const { people, users, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const { userId: id } = await users.findWithin(principal, userId, tx);
      const detail = await people.detail(principal, id, tx);
      if (!detail) throw unknownPerson();
      return detail;
    });
  }
}
