import { createHash } from "node:crypto";
import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { Claim } from "../facts/claims.ts";
import type { FactScopeName } from "../facts/fact.ts";
import { fold } from "../facts/fold.ts";
import type { History } from "../facts/key.ts";
import { isLive } from "../facts/life.ts";
import { narrowed } from "../facts/reach.ts";
import type { FactScope } from "../facts/row.ts";
import type { FactService } from "../facts/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { type RecallAnswer, recalledFacts } from "./answer.ts";
import { memoryBlock } from "./block.ts";
import { fragmentsOf, relevanceOf, type Terms, termsOf } from "./match.ts";
import { matchMessages } from "./messages.ts";
import { type Candidate, orderCandidates } from "./order.ts";
import { type Recall, searched } from "./query.ts";
import type { RecallRepository, StoredMessage } from "./repository.ts";
import { tokenCounter } from "./tokens.ts";

/** Of one claim, newest first: more would only repeat it. */
const STATEMENTS_SEARCHED = 20;

export interface RecallServices {
  readonly recalls: RecallRepository;
  readonly facts: FactService;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The agent whose pocket every other agent reads too. */
  readonly orchestrator: string;
}

interface Found {
  /** The org, or this person's arm of its comparison, does without memory. */
  readonly disabled: boolean;
  readonly scopes: readonly { readonly scope: FactScope; readonly histories: readonly History[] }[];
  readonly messages: readonly StoredMessage[];
}

export class RecallService {
  readonly #deps: RecallServices;

  constructor(deps: RecallServices) {
    this.#deps = deps;
  }

  /**
   * What is remembered, as text for a prompt and as data: live claims of the given scopes in the pockets of the agent
   * and the orchestrator, and with a `query` the ones it matches and messages of the person that match. The blocks are
   * the same bytes until something is written, archived or expires.
   *
   * @throws AppError NOT_FOUND for an unknown person or store; INVALID_INPUT for a scope without its id
   */
  async recall(principal: Principal, input: Recall): Promise<RecallAnswer> {
    const { transactions, clock } = this.#deps;
    const now = clock();
    const query = searched(input.query);
    const terms = query === undefined ? undefined : termsOf(query);
    const [{ disabled, scopes, messages }, count] = await Promise.all([
      transactions.tenant(principal, (tx) => this.#find(principal, input, terms, tx)),
      tokenCounter(),
    ]);
    const asOf = input.asOf && input.asOf < now ? input.asOf : now;
    // Claims as they were when something last happened to them. The wall clock would change the block while nothing does.
    const rankedAt = input.asOf ? asOf : lastChange(scopes.flatMap(({ histories }) => histories));
    const candidates = scopes.flatMap(({ scope, histories }) =>
      candidatesOf(scope, histories, terms, rankedAt),
    );
    const ranked = orderCandidates(
      candidates.filter((candidate) => isWanted(candidate, input)),
      rankedAt,
    ).slice(0, input.limit);
    const matched = terms ? matchMessages(terms, messages) : [];
    const block = memoryBlock(ranked, matched, input.budgetTokens, count);
    const stableBlock = "";
    return {
      ...(disabled && { disabled }),
      stableBlock,
      memoryBlock: block.text,
      tokens: block.tokens,
      etag: etagOf(stableBlock, block.text),
      // The block keeps its bytes until the hourly expiry deletes what is over; the data says it at once.
      facts: recalledFacts(
        ranked.filter(({ claim }) => claim.expiresAt === null || claim.expiresAt > asOf),
        terms !== undefined,
        asOf,
      ),
      messages: matched.map(({ id, speaker, channel, text, sentAt }) => ({
        id,
        speaker,
        channel,
        text,
        sentAt: sentAt.toISOString(),
      })),
    };
  }

  async #find(
    principal: Principal,
    input: Recall,
    terms: Terms | undefined,
    tx: Tx,
  ): Promise<Found> {
    const { recalls, facts, orchestrator } = this.#deps;
    const agent = agentOf(principal, input.agentId);
    const fragments = terms && fragmentsOf(terms);
    const scopes = await this.#scopesOf(principal, input, tx);
    const person = scopes.find((scope) => scope.name === "user");
    if ((await this.#deps.orgs.memoryFor(principal, person?.userId, tx)) === "off") {
      return { disabled: true, scopes: [], messages: [] };
    }
    if (fragments?.length === 0) return { disabled: false, scopes: [], messages: [] };
    const filter = { ...input, fragments, agents: [...new Set([agent, orchestrator])] };
    const found: { scope: FactScope; histories: readonly History[] }[] = [];
    for (const scope of scopes) {
      const keys = await recalls.keys(scope, filter, tx);
      found.push({ scope, histories: await facts.histories(scope, keys, tx) });
    }
    const messages =
      person && terms ? await recalls.messages(principal, person.userId, input, tx) : [];
    return { disabled: false, scopes: found, messages };
  }

  async #scopesOf(principal: Principal, input: Recall, tx: Tx): Promise<FactScope[]> {
    const { users, orgs } = this.#deps;
    const { orgId } = principal;
    const userId = narrowed(principal, "userId", input.userId);
    const storeId = narrowed(principal, "storeId", input.storeId);
    const wanted = (name: FactScopeName, id: string | undefined) => {
      if (input.scopes?.includes(name) && id === undefined) {
        throw new AppError("INVALID_INPUT", `${name}Id: missing; scope "${name}" needs it`);
      }
      return id !== undefined && (input.scopes?.includes(name) ?? true) ? id : undefined;
    };
    const scopes: FactScope[] = [];
    const person = wanted("user", userId);
    if (person !== undefined) {
      const found = await users.find(principal, person, tx);
      scopes.push({ name: "user", orgId, userId: found.userId });
    }
    const shop = wanted("store", storeId);
    if (shop !== undefined) {
      const found = await orgs.findStore(principal, shop, tx);
      scopes.push({ name: "store", orgId, storeId: found.id });
    }
    if (input.scopes?.includes("org") ?? true) scopes.push({ name: "org", orgId });
    return scopes;
  }
}

/** A key that matches comes whole: a search for the old value has to show the current one. */
function candidatesOf(
  scope: FactScope,
  histories: readonly History[],
  terms: Terms | undefined,
  at: Date,
): Candidate[] {
  const claims = histories.flatMap(({ rows, decisions }) => fold(rows, decisions, at).claims);
  if (!terms) return claims.map((claim) => ({ scope, claim, match: 1 }));
  const texts = claims.map((claim) => textOf(claim));
  const relevance = relevanceOf(terms, texts);
  const best = new Map<string, number>();
  for (const [index, claim] of claims.entries()) {
    const slot = slotOf(claim);
    best.set(slot, Math.max(best.get(slot) ?? 0, relevance[index] ?? 0));
  }
  return claims.map((claim) => ({ scope, claim, match: best.get(slotOf(claim)) ?? 0 }));
}

/** What a claim's statements say together: one of them may carry the tag or the wording that is asked for. */
function textOf({ rows }: Claim): string {
  return [...new Set(rows.slice(-STATEMENTS_SEARCHED).map((row) => row.searchText))].join(" ");
}

function slotOf({ agentId, key, state }: Claim): string {
  return JSON.stringify([agentId, key, isLive(state)]);
}

function isWanted({ claim, match }: Candidate, input: Recall): boolean {
  const { tags, minConfidence, since, includeArchived } = input;
  return (
    match > 0 &&
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

function etagOf(...blocks: string[]): string {
  return createHash("sha256").update(JSON.stringify(blocks)).digest("hex").slice(0, 32);
}
