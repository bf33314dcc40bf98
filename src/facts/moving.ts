import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Move } from "../users/move.ts";
import { CONSOLIDATE_JOB, type Consolidation } from "./consolidation.ts";
import type { Key } from "./key.ts";
import type { FactKeyRepository } from "./key-repository.ts";
import type { FactMoveRepository } from "./move-repository.ts";

/** Keys folded in the transaction of a link: some 200 ms. The job folds what is beyond. */
const AT_ONCE = 100;

interface MovingDependencies {
  readonly moves: FactMoveRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** Gives one person's facts to another: they are claims of one person from then on, or of two again. */
export class FactMoving {
  readonly #deps: MovingDependencies;

  constructor(deps: MovingDependencies) {
    this.#deps = deps;
  }

  /**
   * Both people are held by the caller. What recall shows is right at once; what lies in indexes of keys beyond the first
   * hundred follows with the job that is queued here.
   */
  async move(move: Move, tx: Tx): Promise<void> {
    const { moves, keys, consolidation, queue, clock } = this.#deps;
    const { orgId, from, to } = move;
    const slots = await moves.slots(move, AT_ONCE + 1, tx);
    if (slots.length === 0) return;
    const now = clock();
    const touched = slots
      .slice(0, AT_ONCE)
      .flatMap((slot): Key[] =>
        [from, to].map((userId) => ({ ...slot, scope: { name: "user", orgId, userId } })),
      );
    // Before any row of them is held: whoever folds a key holds it first, and then its rows.
    await keys.lock({ keys: touched }, tx);
    await moves.move(move, tx);
    await consolidation.fold(touched, now, tx);
    if (slots.length > AT_ONCE)
      await queue.request({ kind: CONSOLIDATE_JOB, orgId, runAt: now }, now, tx);
  }
}
