import type { Tx } from "../db/tenant.ts";
import { fold } from "../facts/fold.ts";
import { type History, nameOf } from "../facts/key.ts";
import { isLive } from "../facts/life.ts";
import type { FactScope } from "../facts/row.ts";
import { daysBetween, score } from "../facts/score.ts";
import type { FactService } from "../facts/service.ts";
import { type Evidence, foundBy, type Hit, rank } from "./fusion.ts";
import { type Candidate, CONTESTED, orderCandidates, type Ranked, slotOf } from "./order.ts";
import { DEFAULT_BUDGET, type Recall } from "./query.ts";
import type { FactFilter, RecallRepository, StandingClaim } from "./repository.ts";
import { placesOf, type Said } from "./sessions.ts";
import { SHARES } from "./tiers.ts";

/** Keys folded because of the query, at least: more than a block of the default budget holds. */
const MATCHED_KEYS = 60;
/** Of the claims that were confirmed last, so many of each pocket are looked at. */
const LOOKED_AT = 150;
/** Most lines of a block take more: what a budget holds of keys. */
const LINE_TOKENS = 16;

/** Claims that a recall may show, in the order that it shows them. */
export interface Claims {
  /** Every document that was found for the query, best first. */
  readonly hits: readonly Hit[];
  /** What matches the query, best first; without one everything that is listed, best rank first. */
  readonly matched: readonly Ranked[];
  /** Whole keys with a pinned or core claim. */
  readonly core: readonly Ranked[];
  /** Keys with something said lately. */
  readonly recent: readonly Ranked[];
}

export const NOTHING: Claims = { hits: [], matched: [], core: [], recent: [] };

type Listed = Awaited<ReturnType<RecallRepository["standing"]>>[number];

/** Finds the claims that a recall chooses from. */
export class Candidates {
  readonly #recalls: RecallRepository;
  readonly #facts: FactService;

  constructor(recalls: RecallRepository, facts: FactService) {
    this.#recalls = recalls;
    this.#facts = facts;
  }

  /** What stands whatever is asked: it can be read while a query is still being embedded. */
  listed(scopes: readonly FactScope[], filter: FactFilter, tx: Tx): Promise<Listed[]> {
    return this.#recalls.standing(scopes, filter, LOOKED_AT, tx);
  }

  /** @param evidence what matches the query; undefined without one */
  async of(
    scopes: readonly FactScope[],
    filter: FactFilter,
    input: Recall,
    { listed, evidence }: { listed: readonly Listed[]; evidence: Evidence | undefined },
    tx: Tx,
  ): Promise<Claims> {
    const found = evidence
      ? await this.#recalls.claims(
          scopes,
          foundBy(evidence),
          { ...filter, includeArchived: true },
          tx,
        )
      : [];
    const hits = evidence && rank(evidence, placesOf(found.map(said)));
    const byId = new Map((hits ?? []).map((hit) => [hit.documentId, hit]));
    const tokens = new Map([...listed, ...found].map((claim) => [claim.factId, claim.tokens]));
    const room = Math.ceil(Math.max(input.budgetTokens, DEFAULT_BUDGET) / LINE_TOKENS);
    const core = strongest(
      listed.filter(({ isCore }) => isCore),
      Math.ceil(room * SHARES.core),
    );
    // Without a query they are also what is listed, and what the other tiers leave is theirs.
    const recent = strongest(
      listed,
      evidence ? Math.ceil(room * SHARES.working) : Math.max(room, input.limit),
    );
    const matched = bestMatched(found, byId, Math.max(room, input.limit, MATCHED_KEYS));
    const histories = await this.#histories([...core, ...recent, ...matched], tx);
    // Claims as they were when something last happened to them. The wall clock would change the block while nothing does.
    const rankedAt = filter.asOf ?? lastChange(histories.map(({ history }) => history));
    const ranked = orderCandidates(
      histories
        .flatMap(({ scope, history }) => candidatesOf(scope, history, byId, rankedAt))
        .map((candidate) => ({ ...candidate, tokens: tokens.get(candidate.claim.factId) }))
        .filter((candidate) => isWanted(candidate, input)),
      rankedAt,
    );
    const of = (claims: readonly StandingClaim[]) => {
      const slots = new Set(claims.map(nameOf));
      return (candidate: Candidate) =>
        slots.has(nameOf({ ...candidate.claim, scope: candidate.scope }));
    };
    const coreSlots = new Set(
      ranked.filter(({ claim }) => claim.pinned || claim.tier === "core").map(slotOf),
    );
    return {
      hits: hits ?? [],
      matched: hits ? ranked.filter(({ match }) => match > 0) : ranked,
      core: ranked.filter((candidate) => coreSlots.has(slotOf(candidate))),
      recent: ranked.filter(of(recent)),
    };
  }

  async #histories(claims: readonly StandingClaim[], tx: Tx) {
    const histories: { scope: FactScope; history: History }[] = [];
    for (const some of Map.groupBy(claims, ({ scope }) => scope.name).values()) {
      const slots = [...new Map(some.map((claim) => [nameOf(claim), claim])).values()];
      const scope = slots[0]?.scope;
      if (!scope) continue;
      for (const history of await this.#facts.histories(scope, slots, tx))
        histories.push({ scope, history });
    }
    return histories;
  }
}

/** What one pocket was told within hours belongs together, as what was said in one conversation does. */
function said({ scope, factId, agentId, observedAt }: StandingClaim): Said {
  return {
    documentId: factId,
    conversation: JSON.stringify([scope.name, agentId]),
    at: observedAt,
    isAssistant: false,
  };
}

/** As of the newest of them, because the wall clock would make the choice move. */
function strongest(claims: readonly StandingClaim[], limit: number): StandingClaim[] {
  const at = new Date(
    claims.reduce((latest, claim) => Math.max(latest, claim.lastConfirmed.getTime()), 0),
  );
  const rank = ({ confidence, lastConfirmed, halfLifeDays, contested }: StandingClaim) =>
    score(confidence, daysBetween(lastConfirmed, at), halfLifeDays) * (contested ? CONTESTED : 1);
  return claims
    .toSorted(
      (a, b) =>
        rank(b) - rank(a) ||
        b.lastConfirmed.getTime() - a.lastConfirmed.getTime() ||
        (a.factId < b.factId ? -1 : 1),
    )
    .slice(0, limit);
}

function bestMatched(
  claims: readonly StandingClaim[],
  hits: ReadonlyMap<string, Hit>,
  limit: number,
): StandingClaim[] {
  const match = ({ factId }: StandingClaim) => hits.get(factId)?.match ?? 0;
  return claims
    .toSorted((a, b) => match(b) - match(a) || (a.factId < b.factId ? -1 : 1))
    .slice(0, limit);
}

/** A key that matches comes whole: a search for the old value has to show the current one. */
function candidatesOf(
  scope: FactScope,
  { rows, decisions }: History,
  hits: ReadonlyMap<string, Hit>,
  at: Date,
): Candidate[] {
  const claims = fold(rows, decisions, at).claims.map((claim) => ({
    claim,
    hit: best(claim.rows.flatMap(({ id }) => hits.get(id) ?? [])),
  }));
  const match = claims.reduce((most, { hit }) => Math.max(most, hit?.match ?? 0), 0);
  return claims.map(({ claim, hit }) => ({ scope, claim, hit, match }));
}

function best(hits: readonly Hit[]): Hit | undefined {
  return hits.toSorted((a, b) => b.match - a.match)[0];
}

function isWanted({ claim }: Candidate, input: Recall): boolean {
  const { tags, minConfidence, since, includeArchived } = input;
  return (
    (includeArchived || isLive(claim.state)) &&
    (tags ?? []).every((tag) => claim.tags.includes(tag)) &&
    claim.confidence >= (minConfidence ?? 0) &&
    (since === undefined || claim.lastConfirmed >= since)
  );
}

/** When something was last stated, withdrawn, decided or consolidated. */
function lastChange(histories: readonly History[]): Date {
  const times = histories.flatMap(({ rows, decisions }) => [
    ...rows.flatMap(({ createdAt, withdrawnAt, state }) =>
      [createdAt, withdrawnAt, state.consolidatedAt].map((at) => at?.getTime() ?? 0),
    ),
    ...decisions.map(({ at }) => at.getTime()),
  ]);
  return new Date(times.reduce((latest, time) => Math.max(latest, time), 0));
}
