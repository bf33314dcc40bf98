import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { inherited } from "./alike.ts";
import type { Consolidation } from "./consolidation.ts";
import { eraseRows } from "./erasing.ts";
import { SYSTEM } from "./event.ts";
import { type History, type Key, nameOf } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import { meaningOf } from "./meaning.ts";
import type { FactRepository } from "./repository.ts";
import type { PlacedRow, StoredFact } from "./row.ts";

/** Four parameters an id, and a statement takes 65,535. */
const MESSAGES_PER_QUERY = 1000;

interface Org {
  readonly orgId: string;
}

interface By {
  readonly actor: string;
  readonly reason: string;
}

export interface ForgettingDependencies {
  readonly facts: FactRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly clock: Clock;
}

/** Takes statements back: erases them, or lets them count no more. */
export class Forgetting {
  readonly #deps: ForgettingDependencies;

  constructor(deps: ForgettingDependencies) {
    this.#deps = deps;
  }

  /**
   * Erases a row, every row merged with it or saying the same under its key (one of them would bring it back), and what
   * their events tell; leaves that they were deleted, by whom and why.
   *
   * @returns the rows erased; none when somebody else was faster
   */
  async forget({ scope, row }: PlacedRow, by: By, tx: Tx): Promise<string[]> {
    const key = { scope, agentId: row.agentId, key: row.key };
    const history = await this.#lockedHistory(key, tx);
    const same = sameAs(row, history.rows);
    if (!same.some(({ id }) => id === row.id)) return [];
    await this.#erase(history, same, by, tx);
    return same.map(({ id }) => id);
  }

  /** Erases what was learned from messages that are erased. A claim that other messages make too lives on with those. */
  async eraseBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    const found = await this.#fromMessages(org, messageIds, tx);
    const by = { actor: SYSTEM, reason: "source message erased" };
    for (const [key, placed] of await this.#locked(found, tx)) {
      const ids = new Set(placed.map(({ row }) => row.id));
      const history = await this.#lockedHistory(key, tx);
      const erased = history.rows.filter(({ id }) => ids.has(id));
      await this.#erase(history, erased, by, tx);
    }
    return found.length;
  }

  /** Lets count no more what was learned from messages that were edited. */
  async archiveBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    const { facts, consolidation, clock } = this.#deps;
    const at = clock();
    const found = (await this.#fromMessages(org, messageIds, tx)).filter(
      ({ row }) => row.withdrawnAt === null,
    );
    for (const [key, placed] of await this.#locked(found, tx)) {
      const history = await this.#lockedHistory(key, tx);
      const ids = placed.map(({ row }) => row.id);
      await facts.withdraw(key.scope, ids, at, tx);
      await this.#inherit(history, ids, tx);
      const { agentId } = key;
      const by = { kind: "superseded", actor: SYSTEM, reason: "source message edited" } as const;
      const events = ids.map((factId) => ({ ...by, factId, agentId, at }));
      await facts.addEvents(key.scope, events, tx);
      await consolidation.fold([key], at, tx);
    }
    return found.length;
  }

  /** Their keys, all locked before the first is folded: a fold holds what other keys' folds wait for. */
  async #locked(placed: readonly PlacedRow[], tx: Tx): Promise<[Key, PlacedRow[]][]> {
    const found = byKey(placed);
    await this.#deps.keys.lock({ keys: found.map(([key]) => key) }, tx);
    return found;
  }

  async #lockedHistory(key: Key, tx: Tx): Promise<History> {
    const among = { orgId: key.scope.orgId, name: key.scope.name, keys: [key] };
    await this.#deps.keys.lock(among, tx);
    const [history] = await this.#deps.keys.histories(among, undefined, tx);
    return history ?? { key, rows: [], decisions: [] };
  }

  async #erase(history: History, erased: readonly StoredFact[], by: By, tx: Tx): Promise<void> {
    const { facts, consolidation, clock } = this.#deps;
    const { key, rows } = history;
    const left = rows.filter((row) => !erased.includes(row));
    await eraseRows(facts, key.scope, erased, left, tx);
    const ids = erased.map(({ id }) => id);
    await this.#inherit(history, ids, tx);
    const at = clock();
    const { agentId } = key;
    const tombstones = erased.map(
      ({ id: factId }) => ({ ...by, factId, agentId, kind: "deleted", at }) as const,
    );
    await facts.addEvents(key.scope, tombstones, tx);
    await consolidation.fold([key], at, tx);
  }

  /** What a machine found alike stays so, on behalf of the rows that go on counting. */
  async #inherit({ key, rows, decisions }: History, gone: readonly string[], tx: Tx) {
    const counting = rows.filter(
      ({ id, withdrawnAt }) => withdrawnAt === null && !gone.includes(id),
    );
    const going = rows.filter(({ id }) => gone.includes(id));
    for (const judgement of inherited(decisions, going, counting)) {
      await this.#deps.keys.decide(key, { ...judgement, kind: "alike", actor: SYSTEM }, tx);
    }
  }

  async #fromMessages(org: Org, messageIds: readonly string[], tx: Tx): Promise<PlacedRow[]> {
    const found: PlacedRow[] = [];
    for (let at = 0; at < messageIds.length; at += MESSAGES_PER_QUERY) {
      const some = messageIds.slice(at, at + MESSAGES_PER_QUERY);
      found.push(...(await this.#deps.facts.findByMessages(org, some, tx)));
    }
    return found;
  }
}

/** The rows that say what a row says, in its words or in others, and whatever was merged with one of them. */
function sameAs(row: StoredFact, rows: readonly StoredFact[]): StoredFact[] {
  const claims = new Set([claimIdOf(row)]);
  const meanings = new Set([meaningOf(row.value)]);
  let size: number;
  do {
    size = claims.size + meanings.size;
    for (const other of rows) {
      if (!claims.has(claimIdOf(other)) && !meanings.has(meaningOf(other.value))) continue;
      claims.add(claimIdOf(other));
      meanings.add(meaningOf(other.value));
    }
  } while (claims.size + meanings.size > size);
  return rows.filter((other) => claims.has(claimIdOf(other)));
}

function claimIdOf({ id, state }: StoredFact): string {
  return state.mergedInto ?? id;
}

/** In one order for all. */
function byKey(placed: readonly PlacedRow[]): [Key, PlacedRow[]][] {
  const keyOf = ({ scope, row }: PlacedRow): Key => ({ scope, agentId: row.agentId, key: row.key });
  return [...Map.groupBy(placed, (one) => nameOf(keyOf(one)))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, some]) => [keyOf(some[0] as PlacedRow), some]);
}
