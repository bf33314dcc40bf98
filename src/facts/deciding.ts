import { v7 } from "uuid";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { PersonalDecision } from "./decision.ts";
import type { FactEventKind } from "./event.ts";
import { EDIT_SOURCE } from "./fact.ts";
import { claimOf, fold, type KeyState } from "./fold.ts";
import type { Key } from "./key.ts";
import { sameMeaning } from "./meaning.ts";
import { noSuchFact } from "./reach.ts";
import type { PlacedRow } from "./row.ts";
import type { StatementDependencies, Statements } from "./statements.ts";

/** A person's own correction is believed as it stands. */
const EDITED_CONFIDENCE = 1;

/** What the audit trail calls a decision. The fold itself notes that a claim came back. */
const EVENTS: Readonly<Partial<Record<PersonalDecision, FactEventKind>>> = {
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

export interface DecidingDependencies extends StatementDependencies {
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
    kind: Exclude<PersonalDecision, "edit">,
    by: By,
    tx: Tx,
  ): Promise<void> {
    const { facts, keys, consolidation, clock } = this.#deps;
    const key = { scope, agentId: row.agentId, key: row.key };
    const at = clock();
    await this.#current(key, row.id, at, tx);
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
   * @throws AppError NOT_FOUND for a claim that is gone; CONFLICT for one that was edited meanwhile; INVALID_INPUT for a
   *   value of the same meaning
   */
  async edit({ scope, row }: PlacedRow, value: unknown, by: By, tx: Tx): Promise<string> {
    const { facts, keys, consolidation, clock } = this.#deps;
    if (sameMeaning(row.value, value)) {
      throw new AppError("INVALID_INPUT", "value: it says the same as before", {
        hint: "Differences of case, white space and final punctuation do not count.",
      });
    }
    const key: Key = { scope, agentId: row.agentId, key: row.key };
    const at = clock();
    const state = await this.#current(key, row.id, at, tx);
    const claim = claimOf(state, row.id);
    if (claim?.archivedReason === "edited") {
      const successor = claimOf(state, claim.supersededBy ?? "");
      if (successor && sameMeaning(successor.value, value)) return successor.factId;
      throw new AppError("CONFLICT", "this fact was replaced by another edit", {
        hint: "Look at what it says now, and edit that.",
      });
    }
    const statement = {
      scope,
      agentId: row.agentId,
      // It goes where the edited fact goes when people who were linked are parted.
      identityId: scope.name === "user" ? await facts.identityOf(scope, row.id, tx) : null,
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

  /** The key as it is now, held until the transaction ends; what expired meanwhile is gone before anybody decides on it. */
  async #current(key: Key, factId: string, now: Date, tx: Tx): Promise<KeyState> {
    const { keys, consolidation } = this.#deps;
    await consolidation.fold([key], now, tx);
    const among = { orgId: key.scope.orgId, name: key.scope.name, keys: [key] };
    const [history] = await keys.histories(among, undefined, tx);
    if (!history?.rows.some(({ id }) => id === factId)) throw noSuchFact();
    return fold(history.rows, history.decisions, now);
  }
}
