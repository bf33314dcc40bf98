import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactEvent } from "./event.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import type { FactRepository } from "./repository.ts";
import type { FactScope } from "./row.ts";
import type { FactScopeRepository } from "./scope-repository.ts";

/** Keys erased in one transaction: each is locked, and locks are bounded. */
const KEYS = 200;
/** Events cleared in one statement. */
const EVENTS = 5_000;

export interface ScopeErasingDependencies {
  readonly scopes: FactScopeRepository;
  readonly facts: FactRepository;
  readonly keys: FactKeyRepository;
  readonly clock: Clock;
}

/** Erases everything that was learned in a scope, in batches: vectors and words go with the facts. */
export class ScopeErasing {
  readonly #deps: ScopeErasingDependencies;

  constructor(deps: ScopeErasingDependencies) {
    this.#deps = deps;
  }

  /**
   * Erases some keys whole. Their locks make a consolidation that runs now end before, or find nothing.
   *
   * @param reset by whom, where that is to be told of each fact; without it nothing new is written
   * @returns how many facts; undefined when none is left
   */
  async facts(
    scope: FactScope,
    reset: { readonly actor: string } | undefined,
    tx: Tx,
  ): Promise<number | undefined> {
    const { scopes, facts, keys, clock } = this.#deps;
    const slots = await scopes.slots(scope, KEYS, tx);
    if (slots.length === 0) return undefined;
    await keys.lock({ keys: slots.map((slot) => ({ ...slot, scope })) }, tx);
    const rows = await scopes.rows(scope, slots, tx);
    const ids = rows.map(({ id }) => id);
    await facts.scrubEvents(scope, ids, tx);
    await facts.delete(scope, ids, tx);
    if (reset) {
      const at = clock();
      const event = { kind: "reset", actor: reset.actor, reason: null, at } as const;
      const events = rows.map(({ id, agentId }): FactEvent => ({ ...event, factId: id, agentId }));
      await facts.addEvents(scope, events, tx);
    }
    return ids.length;
  }

  /** @returns how many */
  decisions(scope: FactScope, tx: Tx): Promise<number> {
    return this.#deps.scopes.deleteDecisions(scope, tx);
  }

  /** Takes contents out of some events. @returns how many; 0 when none is left */
  events(scope: FactScope, tx: Tx): Promise<number> {
    return this.#deps.scopes.clearEvents(scope, EVENTS, tx);
  }

  /** The same of facts that are gone, of the whole org. */
  orphanedEvents(org: { readonly orgId: string }, tx: Tx): Promise<number> {
    return this.#deps.scopes.clearOrphanedEvents(org, tx);
  }
}
