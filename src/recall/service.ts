import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { FactScopeName } from "../facts/fact.ts";
import { narrowed } from "../facts/reach.ts";
import type { FactScope } from "../facts/row.ts";
import { memoryOf } from "../orgs/memory.ts";
import type { OrgService } from "../orgs/service.ts";
import { stableBlockOf } from "../rules/rules.ts";
import type { UserService } from "../users/service.ts";
import type { RecallAnswer } from "./answer.ts";
import { assemble, type Inspection } from "./assembly.ts";
import { type Candidates, NOTHING } from "./candidates.ts";
import { type Evidence, foundBy, rank } from "./fusion.ts";
import { matchedMessages } from "./messages.ts";
import { type Recall, searched } from "./query.ts";
import type { RecallRepository } from "./repository.ts";
import type { Retrieval } from "./retrieval.ts";
import { placesOf } from "./sessions.ts";
import { tokenCounter } from "./tokens.ts";

/** Messages read for one answer: more than a block of the default budget holds. */
const MESSAGES = 100;

export interface RecallServices {
  readonly retrieval: Pick<Retrieval, "vectorOf" | "byWords" | "byMeaningToo">;
  readonly candidates: Candidates;
  readonly recalls: RecallRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The agent whose pocket every other agent reads too. */
  readonly orchestrator: string;
}

const MESSAGE_FILTERS = ["since", "asOf"] as const;
const FACT_FILTERS = [...MESSAGE_FILTERS, "keyPrefix", "tags", "minConfidence"] as const;
const NO_MESSAGES = { hits: [], stored: [] };

/** What one call may read, and is told whatever it asks for. */
interface Reach {
  readonly scopes: readonly FactScope[];
  readonly stableBlock: string;
  /** The org, or this person's arm of its comparison, does without memory. */
  readonly disabled: boolean;
}

export class RecallService {
  readonly #deps: RecallServices;

  constructor(deps: RecallServices) {
    this.#deps = deps;
  }

  /**
   * What is remembered, as text for a prompt and as data: live claims of the given scopes in the pockets of the agent
   * and the orchestrator, and with a `query` the ones it matches and messages of the person that match. The blocks are
   * the same bytes until something is written, archived, expires or gets its vector. `without` names a message that is
   * no answer: the one that is asked for.
   *
   * @throws AppError NOT_FOUND for an unknown person or store; INVALID_INPUT for a scope without its id
   */
  async recall(principal: Principal, input: Recall, without?: string): Promise<RecallAnswer> {
    return (await this.inspect(principal, input, without)).answer;
  }

  /** The same, with what stands in each tier of the block, and every hit. */
  async inspect(principal: Principal, input: Recall, without?: string): Promise<Inspection> {
    const { transactions, retrieval, candidates, clock, orchestrator } = this.#deps;
    const now = clock();
    const asOf = input.asOf && input.asOf < now ? input.asOf : undefined;
    const query = searched(input.query);
    const agents = [...new Set([agentOf(principal, input.agentId), orchestrator])];
    const narrowing = {
      agents,
      archived: asOf !== undefined || input.includeArchived,
      filtered: { facts: filters(input, FACT_FILTERS), messages: filters(input, MESSAGE_FILTERS) },
    };
    const vector = query === undefined ? undefined : retrieval.vectorOf(query);
    const filter = { ...input, asOf, agents };
    const { reach, words, listed } = await transactions.tenant(principal, async (tx) => {
      const reach = await this.#reach(principal, { ...input, asOf }, tx);
      if (reach.disabled) return { reach, listed: [] };
      const { scopes } = reach;
      const words =
        query === undefined ? undefined : await retrieval.byWords(scopes, query, narrowing, tx);
      return { reach, words, listed: await candidates.listed(scopes, filter, tx) };
    });
    const found = words && (await retrieval.byMeaningToo(words, await vector));
    const material = reach.disabled
      ? { claims: NOTHING, messages: NO_MESSAGES }
      : await transactions.tenant(principal, async (tx) => ({
          claims: await candidates.of(
            reach.scopes,
            filter,
            input,
            { listed, evidence: found?.facts },
            tx,
          ),
          messages: await this.#messages(reach.scopes, found?.messages, { ...filter, without }, tx),
        }));
    const { hits, stored } = material.messages;
    return assemble(
      { claims: material.claims, hits, messages: matchedMessages(query, stored, hits) },
      { input, ...reach, found, now, asOf, count: await tokenCounter() },
    );
  }

  /** The stable block alone, as agents get it: of the key's person where it has one, and of a store. */
  stableBlock(
    principal: Principal,
    input: Pick<Recall, "storeId"> = {},
  ): Promise<Pick<Reach, "stableBlock" | "disabled">> {
    const { orgs, transactions } = this.#deps;
    const storeId = narrowed(principal, "storeId", input.storeId);
    return transactions.tenant(principal, async (tx) => {
      const shop = storeId === undefined ? undefined : await orgs.findStore(principal, storeId, tx);
      return this.#settled(principal, principal.pins.userId, { storeId: shop?.id }, tx);
    });
  }

  async #messages(
    scopes: readonly FactScope[],
    evidence: Evidence | undefined,
    filter: Pick<Recall, "since" | "asOf"> & { readonly without: string | undefined },
    tx: Tx,
  ) {
    const person = scopes.find((scope) => scope.name === "user");
    if (!person || !evidence) return NO_MESSAGES;
    const { recalls } = this.#deps;
    const all = await recalls.places(person, person.userId, foundBy(evidence), filter, tx);
    const said = all.filter(({ documentId }) => documentId !== filter.without);
    const hits = rank(evidence, placesOf(said));
    const ids = hits.slice(0, MESSAGES).map(({ documentId }) => documentId);
    const stored = await recalls.messages(person, person.userId, ids, filter, tx);
    return { hits, stored };
  }

  async #reach(principal: Principal, input: Recall, tx: Tx): Promise<Reach> {
    const { scopes, storeId } = await this.#scopesOf(principal, input, tx);
    const person = scopes.find((scope) => scope.name === "user");
    const { asOf } = input;
    return { scopes, ...(await this.#settled(principal, person?.userId, { storeId, asOf }, tx)) };
  }

  async #settled(
    principal: Principal,
    userId: string | undefined,
    of: Parameters<RecallRepository["settled"]>[1],
    tx: Tx,
  ): Promise<Omit<Reach, "scopes">> {
    const settled = await this.#deps.recalls.settled(principal, of, tx);
    const disabled = memoryOf(settled?.memory, userId) === "off";
    const texts = settled && !disabled ? [settled.rules, settled.overlay] : [];
    return { disabled, stableBlock: stableBlockOf(texts) };
  }

  async #scopesOf(principal: Principal, input: Recall, tx: Tx) {
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
    wanted("store", storeId);
    // Whatever scopes are asked for: its rules hold in it.
    const shop = storeId === undefined ? undefined : await orgs.findStore(principal, storeId, tx);
    if (shop && wanted("store", shop.id)) scopes.push({ name: "store", orgId, storeId: shop.id });
    if (input.scopes?.includes("org") ?? true) scopes.push({ name: "org", orgId });
    return { scopes, storeId: shop?.id };
  }
}

function filters(input: Recall, names: readonly (keyof Recall)[]): boolean {
  return names.some((name) => input[name] !== undefined);
}
