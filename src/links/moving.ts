import type { Outbox } from "../channels/outbox.ts";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { Move } from "../users/move.ts";

/** One domain's way to give what came by identities to another person. */
interface Moves {
  move(move: Move, tx: Tx): Promise<void>;
}

export interface MovingDependencies {
  readonly turns: { move(move: Move, at: Date, tx: Tx): Promise<void> };
  readonly messages: {
    move(move: Move, tx: Tx): Promise<number>;
    leaveForeignTurns(move: Move, tx: Tx): Promise<void>;
  };
  readonly entries: Moves;
  readonly facts: Moves;
  readonly index: {
    holdPeople(org: { readonly orgId: string }, userIds: readonly string[], tx: Tx): Promise<void>;
    indexMoved(
      org: { readonly orgId: string },
      userIds: readonly string[],
      count: number,
      tx: Tx,
    ): Promise<void>;
  };
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Moves what two people have between them, over all domains. */
export class Moving {
  readonly #deps: MovingDependencies;

  constructor(deps: MovingDependencies) {
    this.#deps = deps;
  }

  /**
   * In the order in which others lock: people's messages, turns, messages, keys of facts, scopes of the index, queues of
   * what is forwarded. The caller holds both people, so that nobody writes under a name of theirs.
   */
  async move(move: Move, tx: Tx): Promise<void> {
    const { turns, messages, entries, facts, index, outbox, clock } = this.#deps;
    const { from, to } = move;
    await index.holdPeople(move, [from, to], tx);
    await turns.move(move, clock(), tx);
    const count = await messages.move(move, tx);
    if (move.everythingAs === undefined) await messages.leaveForeignTurns(move, tx);
    await entries.move(move, tx);
    await facts.move(move, tx);
    await index.indexMoved(move, [from, to], count, tx);
    const { everythingAs, identityIds } = move;
    const waiting = everythingAs === undefined ? { from, to, identityIds } : { from, to };
    await outbox.move(move, waiting, tx);
  }
}
