import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { type ScoreCurve, scoreCurve } from "./curve.ts";
import type { DecisionKind } from "./decision.ts";
import { claimOf, fold } from "./fold.ts";
import { isLive } from "./life.ts";
import type { FactRecord } from "./record.ts";
import type { FactService } from "./service.ts";
import { type FactSources, type Sourced, statementsOf } from "./sources.ts";

/** Statements shown of a claim, and of each that speaks against it. */
const STATEMENTS = 50;
const OF_RIVALS = 3;
const DECISIONS = 100;

/** A value that speaks against a fact, or did before it was put away. */
interface Rival {
  readonly factId: string;
  readonly value: unknown;
  readonly isLive: boolean;
  readonly lastConfirmed: Date;
  readonly statements: readonly Sourced[];
}

/** Something that was decided about a fact or the others under its key. */
interface Decided {
  readonly kind: DecisionKind;
  readonly factId: string;
  readonly at: Date;
  /** A key's id, or `system`. */
  readonly actor: string;
}

/** Why a fact is believed. */
export interface Explanation {
  readonly fact: FactRecord;
  /** Newest first, each with the message that it comes from. */
  readonly statements: readonly Sourced[];
  /** Other values under its key, live ones first. */
  readonly rivals: readonly Rival[];
  /** Oldest first. */
  readonly decisions: readonly Decided[];
  /** Days without a confirmation after which it is deleted; null = never. */
  readonly ttlDays: number | null;
  /** Undefined for what expired and waits to be deleted. */
  readonly curve: ScoreCurve | undefined;
}

interface ExplanationDependencies {
  readonly facts: FactService;
  readonly sources: FactSources;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Answers "why do you believe this?". */
export class Explanations {
  readonly #deps: ExplanationDependencies;

  constructor(deps: ExplanationDependencies) {
    this.#deps = deps;
  }

  /** @throws AppError NOT_FOUND for foreign ids and outside the key's pins */
  explain(principal: Principal, factId: string): Promise<Explanation> {
    const { facts, sources, transactions, clock } = this.#deps;
    const now = clock();
    return transactions.tenant(principal, async (tx) => {
      const { fact, row, history } = await facts.trace(principal, factId, now, tx);
      const { rows, decisions } = history;
      const { claims } = fold(rows, decisions, now);
      const own = claimOf({ claims, expired: [] }, row.id);
      const others = claims.filter((claim) => claim !== own);
      const said = statementsOf(own ?? { rows: [row] }, STATEMENTS);
      const against = others.map((claim) => ({ claim, said: statementsOf(claim, OF_RIVALS) }));
      const all = [...said, ...against.flatMap((one) => one.said)];
      const sourced = await sources.of(principal, all, tx);
      const byId = new Map(sourced.map((one) => [one.factId, one]));
      const withSources = (some: typeof said) => some.flatMap((one) => byId.get(one.factId) ?? []);
      const ttls = (own?.rows ?? [row]).map(({ ttlDays }) => ttlDays);
      return {
        fact,
        statements: withSources(said),
        rivals: against.map(({ claim, said: of }) => ({
          factId: claim.factId,
          value: claim.value,
          isLive: isLive(claim.state),
          lastConfirmed: claim.lastConfirmed,
          statements: withSources(of),
        })),
        decisions: decisions.slice(-DECISIONS).map(({ kind, factId: of, at, actor }) => ({
          ...{ kind, factId: of, at, actor: actor ?? "" },
        })),
        ttlDays: ttls.includes(null) ? null : Math.max(...ttls.map(Number)),
        curve: scoreCurve(history, row.id, now),
      };
    });
  }
}
