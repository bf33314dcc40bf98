import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { Deciding, type DecidingDependencies } from "./deciding.ts";
import type { PersonalDecision } from "./decision.ts";
import type { FactScopeName } from "./fact.ts";
import { findHeld } from "./held.ts";
import { listPage } from "./list-page.ts";
import type { FactPage, FactQuery } from "./listing.ts";
import type { ListingRepository } from "./listing-repository.ts";
import { required } from "./placement.ts";
import { narrowed, requireRight } from "./reach.ts";
import { type FactScope, ownerOf } from "./row.ts";
import { Statements } from "./statements.ts";

export interface ReviewDependencies extends DecidingDependencies {
  readonly lists: ListingRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly orchestrator: string;
}

/** Which scope a person looks at. */
export interface Place {
  readonly scope: FactScopeName;
  readonly userId?: string | undefined;
  readonly storeId?: string | undefined;
}

/** What people do with facts: look through them, decide about them. */
export class FactReview {
  readonly #deps: ReviewDependencies;
  readonly #deciding: Deciding;

  constructor(deps: ReviewDependencies) {
    this.#deps = deps;
    this.#deciding = new Deciding(deps, new Statements(deps));
  }

  /**
   * Claims of one scope, strongest first; without `all` only live ones above a score of 0.5, and pinned ones.
   *
   * @throws AppError NOT_FOUND for an unknown person or store, and outside the key's pins; INVALID_INPUT for a missing id
   */
  list(principal: Principal, place: Place, query: FactQuery): Promise<FactPage> {
    const { lists, transactions, clock } = this.#deps;
    const context = { agents: this.#pocketsOf(principal), now: clock() };
    return transactions.tenant(principal, async (tx) => {
      const scope = await this.#scopeOf(principal, place, tx);
      return listPage(lists, scope, query, context, tx);
    });
  }

  /**
   * Settles a contest, pins, puts away or takes back a claim, at once.
   *
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; FORBIDDEN without the role
   */
  decide(
    principal: Principal,
    factId: string,
    kind: Exclude<PersonalDecision, "edit">,
    reason: string | null,
  ): Promise<void> {
    return this.#deps.transactions.tenant(principal, async (tx) => {
      const found = await findHeld(this.#deps, principal, factId, tx);
      requireRight(principal, found, "changed");
      await this.#deciding.decide(found, kind, { actor: principal.keyId, reason }, tx);
    });
  }

  /**
   * Replaces a claim's value; what was said before stays in its history.
   *
   * @returns the id of the row that holds the new value
   * @throws AppError as `decide`; INVALID_INPUT for a value of the same meaning
   */
  edit(
    principal: Principal,
    factId: string,
    value: unknown,
    reason: string | null,
  ): Promise<string> {
    return this.#deps.transactions.tenant(principal, async (tx) => {
      const found = await findHeld(this.#deps, principal, factId, tx);
      requireRight(principal, found, "changed");
      return this.#deciding.edit(found, value, { actor: principal.keyId, reason }, tx);
    });
  }

  /** Notes that a scope's facts were taken along, in the caller's transaction. */
  noteExport(scope: FactScope, by: Principal, at: Date, tx: Tx): Promise<void> {
    const event = { kind: "exported", factId: ownerOf(scope), reason: null, at } as const;
    const acting = { actor: by.keyId, agentId: by.defaultAgent };
    return this.#deps.facts.addEvents(scope, [{ ...event, ...acting }], tx);
  }

  async #scopeOf(principal: Principal, place: Place, tx: Tx): Promise<FactScope> {
    const { users, orgs } = this.#deps;
    const { orgId } = principal;
    switch (place.scope) {
      case "org":
        return { name: "org", orgId };
      case "store": {
        const id = required("storeId", narrowed(principal, "storeId", place.storeId), "store");
        return { name: "store", orgId, storeId: (await orgs.findStore(principal, id, tx)).id };
      }
      case "user": {
        const id = required("userId", narrowed(principal, "userId", place.userId), "user");
        return { name: "user", orgId, userId: (await users.find(principal, id, tx)).userId };
      }
    }
  }

  /** The pockets that a key may read; undefined = all. */
  #pocketsOf({ pins }: Principal): string[] | undefined {
    return pins.agentId === undefined ? undefined : [pins.agentId, this.#deps.orchestrator];
  }
}
