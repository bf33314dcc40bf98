import { createHash } from "node:crypto";
import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { type Claim, claimsOf } from "../facts/claims.ts";
import type { FactScopeName } from "../facts/fact.ts";
import { narrowed } from "../facts/reach.ts";
import type { FactRow, FactScope } from "../facts/row.ts";
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

export interface RecallServices {
  readonly recalls: RecallRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The agent whose pocket every other agent reads too. */
  readonly orchestrator: string;
}

interface Found {
  readonly scopes: readonly { readonly scope: FactScope; readonly rows: readonly FactRow[] }[];
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
    const [{ scopes, messages }, count] = await Promise.all([
      transactions.tenant(principal, (tx) => this.#find(principal, input, terms, tx)),
      tokenCounter(),
    ]);
    const asOf = input.asOf && input.asOf < now ? input.asOf : now;
    const rankedAt = input.asOf ? asOf : lastWrite(scopes.flatMap(({ rows }) => rows));
    const candidates = scopes.flatMap(({ scope, rows }) => candidatesOf(scope, rows, terms, asOf));
    const ranked = orderCandidates(
      candidates.filter((candidate) => isWanted(candidate, input)),
      rankedAt,
    ).slice(0, input.limit);
    const matched = terms ? matchMessages(terms, messages) : [];
    const block = memoryBlock(ranked, matched, input.budgetTokens, count);
    const stableBlock = "";
    return {
      stableBlock,
      memoryBlock: block.text,
      tokens: block.tokens,
      etag: etagOf(stableBlock, block.text),
      facts: recalledFacts(ranked, terms !== undefined, asOf),
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
    const { recalls, orchestrator } = this.#deps;
    const agent = agentOf(principal, input.agentId);
    const fragments = terms && fragmentsOf(terms);
    const scopes = await this.#scopesOf(principal, input, tx);
    if (fragments?.length === 0) return { scopes: [], messages: [] };
    const filter = { ...input, fragments, agents: [...new Set([agent, orchestrator])] };
    const found: { scope: FactScope; rows: FactRow[] }[] = [];
    for (const scope of scopes) {
      found.push({ scope, rows: await recalls.facts(scope, filter, tx) });
    }
    const person = scopes.find((scope) => scope.name === "user");
    const messages =
      person && terms ? await recalls.messages(principal, person.userId, input, tx) : [];
    return { scopes: found, messages };
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
  rows: readonly FactRow[],
  terms: Terms | undefined,
  at: Date,
): Candidate[] {
  const claims = claimsOf(rows, at);
  if (!terms) return claims.map((claim) => ({ scope, claim, match: 1 }));
  const texts = claims.map((claim) => claim.rows.at(-1)?.searchText ?? "");
  const relevance = relevanceOf(terms, texts);
  const best = new Map<string, number>();
  for (const [index, claim] of claims.entries()) {
    const slot = slotOf(claim);
    best.set(slot, Math.max(best.get(slot) ?? 0, relevance[index] ?? 0));
  }
  return claims.map((claim) => ({ scope, claim, match: best.get(slotOf(claim)) ?? 0 }));
}

function slotOf({ agentId, key, archived }: Claim): string {
  return JSON.stringify([agentId, key, archived]);
}

function isWanted({ claim, match }: Candidate, { tags, minConfidence, since }: Recall): boolean {
  return (
    match > 0 &&
    (tags ?? []).every((tag) => claim.tags.includes(tag)) &&
    claim.confidence >= (minConfidence ?? 0) &&
    (since === undefined || claim.lastConfirmed >= since)
  );
}

function lastWrite(rows: readonly FactRow[]): Date {
  return new Date(rows.reduce((latest, row) => Math.max(latest, row.createdAt.getTime()), 0));
}

function etagOf(...blocks: string[]): string {
  return createHash("sha256").update(JSON.stringify(blocks)).digest("hex").slice(0, 32);
}
