import { v7 } from "uuid";
import { agentOf } from "../access/agent.ts";
import { hasRole, type Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { IdempotencyService } from "../idempotency/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { CALL_SOURCE } from "./fact.ts";
import { sameMeaning } from "./meaning.ts";
import { placementOf } from "./placement.ts";
import { mayChange, mayRead } from "./reach.ts";
import { type FactRecord, recordOf } from "./record.ts";
import type { Remember, Remembered } from "./remember.ts";
import type { FactRepository } from "./repository.ts";
import type { FactRow, FactScope, PlacedRow } from "./row.ts";
import { addDays } from "./score.ts";
import { searchTextOf } from "./search-text.ts";
import { eventOf, type Verdict, verdictOn } from "./verdict.ts";
import { completeDraft } from "./watch.ts";

const SYSTEM = "system";
/** Four parameters an id, and a statement takes 65,535. */
const MESSAGES_PER_QUERY = 1000;

interface Org {
  readonly orgId: string;
}

interface By {
  readonly actor: string;
  readonly reason: string;
}

export interface FactServices {
  readonly facts: FactRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly idempotency: IdempotencyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The agent whose pocket every other agent reads too. */
  readonly orchestrator: string;
}

export class FactService {
  readonly #deps: FactServices;

  constructor(deps: FactServices) {
    this.#deps = deps;
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

  /**
   * Erases a fact, every row that says the same under its key (one of them would bring it back), and what their
   * events tell; leaves that they were deleted, by whom and why.
   *
   * @returns the number of rows erased
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; FORBIDDEN without the role
   */
  forget(principal: Principal, factId: string, reason: string): Promise<number> {
    const { facts, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const found = await this.#find(principal, factId, tx);
      if (!mayChange(principal, found)) throw notFound();
      if (found.scope.name !== "user" && !hasRole(principal, "admin")) {
        throw new AppError("FORBIDDEN", "facts of an org or a store are forgotten by admins", {
          hint: "Ask somebody who holds an admin key.",
        });
      }
      await facts.lockSlot(found.scope, found.row, tx);
      const slot = await facts.valuesOfSlot(found.scope, found.row, tx);
      const same = slot.filter(({ value }) => sameMeaning(value, found.row.value));
      // Somebody else was faster.
      if (!same.some(({ id }) => id === found.row.id)) throw notFound();
      const ids = same.map(({ id }) => id);
      await this.#erase(found, ids, slot, { actor: principal.keyId, reason }, tx);
      return ids.length;
    });
  }

  /** One fact with where it comes from. @throws AppError NOT_FOUND */
  find(principal: Principal, factId: string): Promise<FactRecord> {
    const { facts, transactions, clock, orchestrator } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const found = await this.#find(principal, factId, tx);
      if (!mayRead(principal, found, orchestrator)) throw notFound();
      const live = await facts.liveRows(found.scope, found.row, tx);
      const record = recordOf(found, live, clock());
      const events = await facts.events(
        principal,
        [...record.statements.map(({ factId: id }) => id), factId],
        tx,
      );
      return { ...record, events };
    });
  }

  /**
   * Archives what was learned from messages that were edited. Owned by the archive's transaction.
   *
   * @returns the number of facts archived
   */
  async archiveBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    const { facts, clock } = this.#deps;
    const at = clock();
    const found = (await this.#fromMessages(org, messageIds, tx)).filter(
      ({ row }) => row.archivedAt === null,
    );
    for (const { scope, row } of found) {
      await facts.archive(scope, [row.id], at, tx);
      const by = { kind: "superseded", actor: SYSTEM, reason: "source message edited" } as const;
      await facts.addEvents(scope, [{ ...by, factId: row.id, agentId: row.agentId, at }], tx);
    }
    return found.length;
  }

  /**
   * Erases what was learned from messages that are erased. A claim that other messages make too lives on with those.
   *
   * @returns the number of rows erased
   */
  async eraseBySource(org: Org, messageIds: readonly string[], tx: Tx): Promise<number> {
    const { facts } = this.#deps;
    const found = await this.#fromMessages(org, messageIds, tx);
    for (const placed of found) {
      await facts.lockSlot(placed.scope, placed.row, tx);
      const slot = await facts.valuesOfSlot(placed.scope, placed.row, tx);
      const by = { actor: SYSTEM, reason: "source message erased" };
      await this.#erase(placed, [placed.row.id], slot, by, tx);
    }
    return found.length;
  }

  async #append(principal: Principal, input: Remember, agentId: string, tx: Tx): Promise<Verdict> {
    const { facts, clock } = this.#deps;
    const { scope, identityId } = await placementOf(principal, input, this.#deps, tx);
    const draft = completeDraft(input);
    const slot = { agentId, key: draft.key };
    await facts.lockSlot(scope, slot, tx);
    const now = clock();
    const observedAt = input.observedAt && input.observedAt < now ? input.observedAt : now;
    const sourceMessageId = input.sourceMessageId ?? CALL_SOURCE + v7();
    const fact = {
      ...draft,
      agentId,
      identityId,
      searchText: searchTextOf(draft),
      sourceMessageId,
      writtenBy: principal.keyId,
      observedAt,
      createdAt: now,
      expiresAt: draft.ttlDays === null ? null : addDays(observedAt, draft.ttlDays),
    };
    const written = await facts.insert(scope, fact, tx);
    const row =
      written ?? (await this.#stated(scope, { ...slot, sourceMessageId }, draft.value, tx));
    const { verdict, others } = verdictOn(row, await facts.liveRows(scope, slot, tx));
    if (written) {
      await facts.addEvents(scope, [eventOf(row, verdict, others, principal.keyId)], tx);
    }
    return verdict;
  }

  /** The row that this source made before; it has to say the same, and still hold. */
  async #stated(
    scope: FactScope,
    slot: { agentId: string; key: string; sourceMessageId: string },
    value: unknown,
    tx: Tx,
  ): Promise<FactRow> {
    const row = await this.#deps.facts.findBySource(scope, slot, tx);
    if (!row) throw new Error("a conflicting row is not there");
    if (!sameMeaning(row.value, value)) {
      throw new AppError(
        "CONFLICT",
        "this sourceMessageId has stated another value under this key",
        {
          hint: "Values that may coexist get a key each (likes.tea, likes.jazz); a new statement gets its own sourceMessageId.",
        },
      );
    }
    if (row.archivedAt !== null) {
      throw new AppError("CONFLICT", "what this sourceMessageId stated was archived", {
        hint: "If it still holds, send it again without sourceMessageId or with that of the new statement.",
      });
    }
    return row;
  }

  async #find(principal: Principal, factId: string, tx: Tx): Promise<PlacedRow> {
    const found = isUuid(factId) && (await this.#deps.facts.find(principal, factId, tx));
    if (!found) throw notFound();
    return found;
  }

  async #fromMessages(org: Org, messageIds: readonly string[], tx: Tx): Promise<PlacedRow[]> {
    const found: PlacedRow[] = [];
    for (let at = 0; at < messageIds.length; at += MESSAGES_PER_QUERY) {
      const some = messageIds.slice(at, at + MESSAGES_PER_QUERY);
      found.push(...(await this.#deps.facts.findByMessages(org, some, tx)));
    }
    return found;
  }

  /** Erases rows of one key; `slot` is every row of it, whose events may quote the erased value. */
  async #erase(
    { scope, row }: PlacedRow,
    ids: readonly string[],
    slot: readonly { readonly id: string; readonly value: unknown }[],
    by: By,
    tx: Tx,
  ): Promise<void> {
    const { facts, clock } = this.#deps;
    await facts.scrubEvents(scope, ids, tx);
    const erased = new Set(ids);
    const others = slot.map(({ id }) => id).filter((id) => !erased.has(id));
    const quoting = (await facts.oldValues(scope, others, tx)).filter(({ value }) =>
      sameMeaning(value, row.value),
    );
    await facts.scrubOldValues(
      scope,
      quoting.map(({ id }) => id),
      tx,
    );
    await facts.delete(scope, ids, tx);
    const at = clock();
    const tombstones = ids.map(
      (factId) => ({ ...by, factId, kind: "deleted", agentId: row.agentId, at }) as const,
    );
    await facts.addEvents(scope, tombstones, tx);
  }
}

function notFound(): AppError {
  return new AppError("NOT_FOUND", "no fact has this id");
}
