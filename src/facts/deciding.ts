import { v7 } from "uuid";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { Consolidation } from "./consolidation.ts";
import type { DecisionKind } from "./decision.ts";
import type { FactEventKind } from "./event.ts";
import { EDIT_SOURCE } from "./fact.ts";
import type { Key } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import { sameMeaning } from "./meaning.ts";
import type { FactRepository } from "./repository.ts";
import type { PlacedRow } from "./row.ts";
import type { Statements } from "./statements.ts";

/** A person's own correction is believed as it stands. */
const EDITED_CONFIDENCE = 1;

/** What the audit trail calls a decision. The fold itself notes that a claim came back. */
const EVENTS: Readonly<Partial<Record<DecisionKind, FactEventKind>>> = {
  settle: "settled",
  keep_all: "settled",
  pin: "pinned",
  unpin: "unpinned",
  archive: "archived",
};

interface By {
  readonly actor: string;
  readonly reason: string | null;
}

export interface DecidingDependencies {
  readonly facts: FactRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly clock: Clock;
}

/** What people decide about claims: stored, so that every later fold finds it at its time. */
export class Deciding {
  readonly #deps: DecidingDependencies;
  readonly #statements: Statements;

  constructor(deps: DecidingDependencies, statements: Statements) {
    this.#deps = deps;
    this.#statements = statements;
  }

  async decide(
    { scope, row }: PlacedRow,
    kind: Exclude<DecisionKind, "edit">,
    by: By,
    tx: Tx,
  ): Promise<void> {
    const { facts, keys, consolidation, clock } = this.#deps;
    const key = { scope, agentId: row.agentId, key: row.key };
    await keys.lock({ orgId: scope.orgId, name: scope.name, keys: [key] }, tx);
    const at = clock();
    const decision = { kind, factId: row.id, replacedBy: null, actor: by.actor, at };
    await keys.decide(key, decision, tx);
    const event = EVENTS[kind];
    if (event) {
      await facts.addEvents(
        scope,
        [{ ...by, kind: event, factId: row.id, agentId: row.agentId, at }],
        tx,
      );
    }
    await consolidation.fold([key], at, tx, by.actor);
  }

  /**
   * Replaces a claim's value by a statement of the person's own.
   *
   * @returns the id of the new row
   * @throws AppError NOT_FOUND for a claim that is gone; INVALID_INPUT for a value of the same meaning
   */
  async edit({ scope, row }: PlacedRow, value: unknown, by: By, tx: Tx): Promise<string> {
    const { keys, consolidation, clock } = this.#deps;
    if (sameMeaning(row.value, value)) {
      throw new AppError("INVALID_INPUT", "value: it says the same as before", {
        hint: "Differences of case, white space and final punctuation do not count.",
      });
    }
    const key: Key = { scope, agentId: row.agentId, key: row.key };
    const at = clock();
    const statement = {
      scope,
      agentId: row.agentId,
      identityId: null,
      draft: {
        key: row.key,
        value,
        confidence: EDITED_CONFIDENCE,
        tags: row.state.claimTags ?? row.tags,
        tier: row.state.claimTier ?? row.tier,
        halfLifeDays: row.state.claimHalfLifeDays ?? row.halfLifeDays,
        ttlDays: row.ttlDays,
        reasoning: by.reason,
      },
      sourceMessageId: EDIT_SOURCE + v7(),
      sourceReason: null,
      conversation: null,
      writtenBy: by.actor,
      observedAt: at,
      replaces: row.value,
    };
    const { factId } = await this.#statements.append(statement, at, tx);
    await keys.decide(
      key,
      { kind: "edit", factId: row.id, replacedBy: factId, actor: by.actor, at },
      tx,
    );
    await consolidation.fold([key], at, tx, by.actor);
    return factId;
  }
}
