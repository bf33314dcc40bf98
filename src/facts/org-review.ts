import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { readPoint, writePoint } from "./claim-cursor.ts";
import { type Claim, scoreOf } from "./claims.ts";
import type { FactScopeName } from "./fact.ts";
import { fold } from "./fold.ts";
import { type History, type Key, nameOf } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import { type ListedFact, listedFact } from "./listing.ts";
import type { ClaimPoint, OrgReviewRepository } from "./org-review-repository.ts";
import { mayChange, type Reach, reachOf, shownScopes } from "./reach.ts";
import type { PlacedRow } from "./row.ts";
import { type FactSources, type Sourced, statementsOf } from "./sources.ts";

/** Contests on one page of the inbox: each is folded and shown with its sources. */
const CONTESTS = 20;
const WATCHED = 50;
/** Newest rows of a contested key that are folded to show it. */
const ROWS = 200;
/** Values of one contest that are shown: with more nobody compares. */
const VALUES = 5;
/** Statements that are shown of one value. */
const STATEMENTS = 3;

/** Query of lists that are read newest first. */
export const InboxQuery = z.object({ before: z.string().max(200).optional() });
export type InboxQuery = z.output<typeof InboxQuery>;

export const WatchQuery = InboxQuery.extend({
  site: z
    .string()
    .regex(/^[a-z0-9_]{1,72}$/, "the part of a key after watch.")
    .optional(),
});
export type WatchQuery = z.output<typeof WatchQuery>;

/** Where a claim lies. */
interface PlaceOf {
  readonly scope: FactScopeName;
  readonly storeId?: string;
  readonly userId?: string;
  readonly agentId: string;
  readonly key: string;
}

/** One of several values that speak against each other. */
interface ContestedValue {
  readonly factId: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly score: number;
  readonly confirmations: number;
  readonly firstSeen: Date;
  readonly lastConfirmed: Date;
  /** Newest first. */
  readonly statements: readonly Sourced[];
}

/** A key with values that speak against each other, the one confirmed last first. */
export interface Contest extends PlaceOf {
  readonly values: readonly ContestedValue[];
  /** Values beyond those shown. */
  readonly more: number;
  readonly mayDecide: boolean;
}

export interface ContestPage {
  readonly contests: readonly Contest[];
  readonly nextBefore: string | null;
}

/** A claim as a list shows it, with where it lies. */
export type ClaimCard = ListedFact & PlaceOf;

export interface WatchPage {
  readonly facts: readonly ClaimCard[];
  readonly nextBefore: string | null;
}

export interface OrgReviewDependencies {
  readonly lists: OrgReviewRepository;
  readonly keys: FactKeyRepository;
  readonly sources: FactSources;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly orchestrator: string;
}

/** What waits for people, and what was learned of others, in a whole org as far as a key may see it. */
export class OrgReview {
  readonly #deps: OrgReviewDependencies;

  constructor(deps: OrgReviewDependencies) {
    this.#deps = deps;
  }

  /** Contradictions, newest first, each with its values and who said them. @throws AppError INVALID_INPUT for a foreign cursor */
  async contradictions(principal: Principal, { before }: InboxQuery): Promise<ContestPage> {
    const { lists, transactions, clock } = this.#deps;
    const now = clock();
    const wanted = { now, before: readPoint(before), limit: CONTESTS + 1 };
    return transactions.tenant(principal, async (tx) => {
      const rows = await this.#newest(principal, wanted.limit, (name, reach) =>
        lists.contested(principal, name, reach, wanted, tx),
      );
      const page = rows.slice(0, CONTESTS);
      const contests = await this.#contests(principal, page, now, tx);
      return { contests, nextBefore: nextAfter(rows, CONTESTS) };
    });
  }

  /** Facts about other sites, newest first. @throws AppError INVALID_INPUT for a foreign cursor */
  async watch(principal: Principal, { before, site }: WatchQuery): Promise<WatchPage> {
    const { lists, transactions, clock } = this.#deps;
    const now = clock();
    const wanted = { now, before: readPoint(before), site, limit: WATCHED + 1 };
    return transactions.tenant(principal, async (tx) => {
      const rows = await this.#newest(principal, wanted.limit, (name, reach) =>
        lists.watch(principal, name, reach, wanted, tx),
      );
      const facts = rows.slice(0, WATCHED).map((placed) => ({
        ...listedFact(placed.scope, placed.row, now),
        ...placeOf(placed),
      }));
      return { facts, nextBefore: nextAfter(rows, WATCHED) };
    });
  }

  /** The newest of every kind of scope that the key may see, put together. */
  async #newest(
    principal: Principal,
    limit: number,
    list: (name: FactScopeName, reach: Reach) => Promise<PlacedRow[]>,
  ): Promise<PlacedRow[]> {
    const reach = reachOf(principal, this.#deps.orchestrator);
    const found: PlacedRow[] = [];
    for (const name of shownScopes(principal)) found.push(...(await list(name, reach)));
    return found.sort(byPoint).slice(0, limit);
  }

  async #contests(
    principal: Principal,
    rows: readonly PlacedRow[],
    now: Date,
    tx: Tx,
  ): Promise<Contest[]> {
    const histories = await this.#histories(rows, tx);
    const found = rows.flatMap((placed) => {
      const history = histories.get(nameOf(keyOf(placed)));
      const claims = history ? contestedIn(history, now) : [];
      return claims.length > 1 ? [{ placed, claims }] : [];
    });
    const shown = found.flatMap(({ claims }) => claims.slice(0, VALUES));
    const said = new Map(shown.map((claim) => [claim.factId, statementsOf(claim, STATEMENTS)]));
    const sourced = await this.#deps.sources.of(principal, [...said.values()].flat(), tx);
    const byId = new Map(sourced.map((one) => [one.factId, one]));
    return found.map(({ placed, claims }) => ({
      ...placeOf(placed),
      values: claims.slice(0, VALUES).map((claim) => ({
        factId: claim.factId,
        value: claim.value,
        confidence: claim.confidence,
        score: scoreOf(claim, now),
        confirmations: claim.confirmations,
        firstSeen: claim.firstSeen,
        lastConfirmed: claim.lastConfirmed,
        statements: (said.get(claim.factId) ?? []).flatMap(({ factId }) => byId.get(factId) ?? []),
      })),
      more: Math.max(0, claims.length - VALUES),
      mayDecide: mayChange(principal, placed),
    }));
  }

  async #histories(rows: readonly PlacedRow[], tx: Tx): Promise<Map<string, History>> {
    const found = new Map<string, History>();
    for (const [name, some] of Map.groupBy(rows, ({ scope }) => scope.name)) {
      const keys = some.map(keyOf);
      const { orgId } = (some[0] as PlacedRow).scope;
      for (const history of await this.#deps.keys.histories({ orgId, name, keys }, ROWS, tx)) {
        found.set(nameOf(history.key), history);
      }
    }
    return found;
  }
}

/** The contest as it is now: what faded since the last fold has no say any more. */
function contestedIn({ rows, decisions }: History, now: Date): Claim[] {
  return fold(rows, decisions, now).claims.filter(({ state }) => state === "contested");
}

function keyOf({ scope, row }: PlacedRow): Key {
  return { scope, agentId: row.agentId, key: row.key };
}

export function placeOf({ scope, row }: PlacedRow): PlaceOf {
  return {
    scope: scope.name,
    ...(scope.name === "store" && { storeId: scope.storeId }),
    ...(scope.name === "user" && { userId: scope.userId }),
    agentId: row.agentId,
    key: row.key,
  };
}

function pointOf({ row }: PlacedRow): ClaimPoint {
  return { at: row.state.lastConfirmedAt ?? row.observedAt, id: row.id };
}

function byPoint(a: PlacedRow, b: PlacedRow): number {
  const [x, y] = [pointOf(a), pointOf(b)];
  return y.at.getTime() - x.at.getTime() || (x.id > y.id ? -1 : 1);
}

function nextAfter(rows: readonly PlacedRow[], limit: number): string | null {
  const last = rows[limit - 1];
  return rows.length > limit && last ? writePoint(pointOf(last)) : null;
}
