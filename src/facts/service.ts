import { agentOf } from "../access/agent.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { Ledger } from "../erasure/ledger.ts";
import { AppError } from "../errors.ts";
import type { IdempotencyService } from "../idempotency/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { type Conversations, conversationHash } from "./conversation.ts";
import type { FactDraft, FactScopeName } from "./fact.ts";
import { fold } from "./fold.ts";
import { Forgetting } from "./forgetting.ts";
import { findHeld } from "./held.ts";
import type { History } from "./key.ts";
import type { LearnDraft, Learned, LearnSource } from "./learn.ts";
import { placementOf } from "./placement.ts";
import { mayChange, mayRead, noSuchFact, requireRight } from "./reach.ts";
import { type FactRecord, recordOf } from "./record.ts";
import type { Remember, Remembered } from "./remember.ts";
import type { FactScope, PlacedRow, Slot, StoredFact } from "./row.ts";
import { type SourcedFact, sourcedFact } from "./sourced.ts";
import { type StatementDependencies, Statements } from "./statements.ts";
import type { Verdict } from "./verdict.ts";
import { completeDraft } from "./watch.ts";

/** Who wrote what was learned from turns. */
const EXTRACTION = "extraction";
/** The newest rows of a key that are read to show it. */
const SHOWN_ROWS = 1000;

interface Org {
  readonly orgId: string;
}

export interface FactServices extends StatementDependencies {
  readonly conversations: Conversations;
  /** The chain of what was erased. */
  readonly erasures: Pick<Ledger, "note">;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly idempotency: IdempotencyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The agent whose pocket every other agent reads too. */
  readonly orchestrator: string;
}

/** A message's id, without the number of an edit. */
const REVISION = /#\d+$/;

export class FactService {
  readonly #deps: FactServices;
  readonly #statements: Statements;
  readonly #forgetting: Forgetting;

  constructor(deps: FactServices) {
    this.#deps = deps;
    this.#statements = new Statements(deps);
    this.#forgetting = new Forgetting(deps);
  }

  /**
   * Appends one claim. A repeated source and meaning gets the first answer; 20 at once make one row.
   *
   * @throws AppError INVALID_INPUT, FORBIDDEN or NOT_FOUND for the scope; CONFLICT when the source has said another
   *   value under this key, or the idempotency key went with another call
   */
  remember(principal: Principal, input: Remember): Promise<Remembered> {
    const { facts, idempotency, transactions } = this.#deps;
    const { idempotencyKey, ...body } = input;
    const agentId = agentOf(principal, input.agentId);
    return transactions.tenant(principal, async (tx) => {
      const call = { tool: "remember_fact", key: idempotencyKey, body: { ...body, agentId } };
      // Answers are kept for retries: with ids alone, erasing a fact leaves no copy of its value there.
      const { contradicts, ...verdict } = await idempotency.once(principal, call, tx, () =>
        this.#append(principal, input, agentId, tx),
      );
      const values = await facts.values(principal, input.scope, contradicts, tx);
      return { ...verdict, contradicts: values };
    });
  }

  async #append(principal: Principal, input: Remember, agentId: string, tx: Tx): Promise<Verdict> {
    const { scope, identityId } = await placementOf(principal, input, this.#deps, tx);
    const now = this.#deps.clock();
    const { sourceMessageId } = input;
    const statement = {
      scope,
      identityId,
      agentId,
      draft: completeDraft(input),
      sourceMessageId,
      sourceReason: null,
      conversation: await this.#conversationOf(principal, sourceMessageId, tx),
      writtenBy: principal.keyId,
      observedAt: input.observedAt && input.observedAt < now ? input.observedAt : now,
    };
    return this.#statements.append(statement, now, tx);
  }

  async #conversationOf(org: Org, sourceMessageId: string | undefined, tx: Tx) {
    const messageId = sourceMessageId?.replace(REVISION, "");
    if (messageId === undefined || !isUuid(messageId)) return null;
    const conversation = await this.#deps.conversations.conversationOf(org, messageId, tx);
    return conversation ? conversationHash(conversation) : null;
  }

  /**
   * Stores what was extracted from a turn, draft by draft; a repeated turn stores nothing twice. Owned by the extraction's
   * transaction.
   */
  async learn(source: LearnSource, drafts: readonly LearnDraft[], tx: Tx): Promise<Learned> {
    const now = this.#deps.clock();
    const dropped: Record<string, number> = {};
    let stored = 0;
    // All at once and in one order: two extractions with the same keys could wait for each other.
    const keys = drafts.flatMap(({ scope: name, draft: { key } }) => {
      const scope = learnedScope(source, name);
      return scope ? [{ scope, agentId: source.agentId, key }] : [];
    });
    await this.#deps.keys.lock({ keys }, tx);
    for (const { scope, draft } of drafts) {
      const outcome = await this.#learnOne(source, scope, draft, now, tx);
      if (outcome === "stored") stored++;
      else dropped[outcome] = (dropped[outcome] ?? 0) + 1;
    }
    return { stored, dropped };
  }

  async #learnOne(
    source: LearnSource,
    name: FactScopeName,
    draft: FactDraft,
    now: Date,
    tx: Tx,
  ): Promise<"stored" | "scope" | "watch" | "second-value"> {
    const scope = learnedScope(source, name);
    if (!scope) return "scope";
    try {
      const statement = {
        scope,
        identityId: name === "user" ? source.identityId : null,
        agentId: source.agentId,
        draft: completeDraft(draft),
        sourceMessageId: source.sourceMessageId,
        sourceReason: source.sourceReason,
        conversation: conversationHash(source),
        writtenBy: source.writtenBy ?? EXTRACTION,
        observedAt: source.observedAt < now ? source.observedAt : now,
      };
      await this.#statements.append(statement, now, tx);
      return "stored";
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "CONFLICT") return "second-value";
      if (error.code === "INVALID_INPUT") return "watch";
      throw error;
    }
  }

  /**
   * Erases a fact, every row that says the same under its key, and what their events tell; leaves that they were deleted,
   * by whom and why.
   *
   * @returns the number of rows erased
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; FORBIDDEN without the role
   */
  forget(principal: Principal, factId: string, reason: string): Promise<number> {
    return this.#deps.transactions.tenant(principal, async (tx) => {
      const found = await findHeld(this.#deps, principal, factId, tx);
      requireRight(principal, found, "forgotten");
      const by = { actor: principal.keyId, reason };
      const ids = await this.#forgetting.forget(found, by, tx);
      if (ids.length === 0) throw noSuchFact();
      const deleted = { [`${found.scope.name}_facts`]: ids.length };
      const erased = { kind: "fact", subjectId: factId, ids, deleted } as const;
      await this.#deps.erasures.note(principal, principal, erased, tx);
      return ids.length;
    });
  }

  /** What these keys of one scope are folded from, for a reader that shows claims. */
  histories(scope: FactScope, slots: readonly Slot[], tx: Tx): Promise<History[]> {
    const { orgId, name } = scope;
    const keys = slots.map((slot) => ({ ...slot, scope }));
    return this.#deps.keys.histories({ orgId, name, keys }, SHOWN_ROWS, tx);
  }

  /** One fact with where it comes from. @throws AppError NOT_FOUND */
  find(principal: Principal, factId: string): Promise<FactRecord> {
    const { transactions, clock } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const { fact } = await this.trace(principal, factId, clock(), tx);
      return fact;
    });
  }

  /** What was learned from a message, as far as the key may read it, and whether the key may delete all of it. */
  async learnedFrom(
    principal: Principal,
    messageId: string,
    tx: Tx,
  ): Promise<{ facts: SourcedFact[]; mayErase: boolean }> {
    const { facts, orchestrator } = this.#deps;
    const found = await facts.findByMessages(principal, [messageId], tx);
    return {
      facts: found.filter((placed) => mayRead(principal, placed, orchestrator)).map(sourcedFact),
      mayErase: found.every((placed) => mayChange(principal, placed)),
    };
  }

  /** One fact with everything that was said and decided under its key. @throws AppError NOT_FOUND */
  async trace(
    principal: Principal,
    factId: string,
    now: Date,
    tx: Tx,
  ): Promise<{ fact: FactRecord; row: StoredFact; history: History }> {
    const { facts, orchestrator } = this.#deps;
    const found = await this.#find(principal, factId, tx);
    if (!mayRead(principal, found, orchestrator)) throw noSuchFact();
    const { scope, row } = found;
    const [known] = await this.histories(scope, [row], tx);
    const { rows = [], decisions = [] } = known ?? {};
    const all = rows.some(({ id }) => id === row.id) ? rows : [...rows, row];
    const record = recordOf(found, fold(all, decisions, now), now);
    const ids = [...record.statements.map(({ factId: id }) => id), factId];
    const fact = { ...record, events: await facts.events(principal, ids, tx) };
    const key = { scope, agentId: row.agentId, key: row.key };
    return { fact, row, history: { key, rows: all, decisions } };
  }

  /** Lets count no more what was learned from messages that were edited. Owned by the archive's transaction. */
  archiveBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    return this.#forgetting.archiveBySource(org, messageIds, tx);
  }

  /** Erases what was learned from messages that are erased. Owned by the archive's transaction. */
  eraseBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    return this.#forgetting.eraseBySource(org, messageIds, tx);
  }

  async #find(principal: Principal, factId: string, tx: Tx): Promise<PlacedRow> {
    const found = isUuid(factId) && (await this.#deps.facts.find(principal, factId, tx));
    if (!found) throw noSuchFact();
    return found;
  }
}

function learnedScope(source: LearnSource, name: FactScopeName): FactScope | undefined {
  const { orgId, userId, storeId } = source;
  switch (name) {
    case "user":
      return { name, orgId, userId };
    case "store":
      return storeId === null ? undefined : { name, orgId, storeId };
    case "org":
      return { name, orgId };
  }
}
