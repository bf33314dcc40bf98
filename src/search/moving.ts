import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { SearchIndex } from "./service.ts";

/** The job that indexes what waits for it. */
export const INDEX_JOB = "search.index";

/** Moved messages that are indexed in the transaction of a link. */
const AT_ONCE = 200;

interface Org {
  readonly orgId: string;
}

/** Keeps the index right while messages go from one person to another. */
export class SearchMoving {
  readonly #index: SearchIndex;
  readonly #queue: JobQueue;
  readonly #clock: Clock;

  constructor(index: SearchIndex, queue: JobQueue, clock: Clock) {
    this.#index = index;
    this.#queue = queue;
    this.#clock = clock;
  }

  holdPeople(org: Org, userIds: readonly string[], tx: Tx): Promise<void> {
    return this.#index.holdPeople(org, userIds, tx);
  }

  /** Indexes a few moved messages at once; where there are many it is the job that is queued here. */
  async indexMoved(org: Org, userIds: readonly string[], count: number, tx: Tx): Promise<void> {
    if (count <= AT_ONCE) await this.#index.indexAfterDeletion(org, userIds, tx);
    const now = this.#clock();
    await this.#queue.request({ kind: INDEX_JOB, orgId: org.orgId, runAt: now }, now, tx);
  }
}
