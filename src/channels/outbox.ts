import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { UserService } from "../users/service.ts";
import type { NewDelivery, OutboxRepository } from "./outbox-repository.ts";
import type { ChannelService } from "./service.ts";

interface Scope {
  readonly orgId: string;
}

/** The kind of the job that delivers what waits. */
export const FORWARD_JOB = "channels.forward";

interface OutboxDependencies {
  readonly outbox: OutboxRepository;
  readonly channels: ChannelService;
  readonly users: UserService;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** What is to be forwarded to the agent runtime: written with what it tells of, in the same transaction. */
export class Outbox {
  readonly #deps: OutboxDependencies;

  constructor(deps: OutboxDependencies) {
    this.#deps = deps;
  }

  /**
   * Lets the agent runtime know of something a person did. Does nothing where their account forwards nowhere, and for
   * people who are not approved. Wake the runner after the commit.
   */
  async enqueue(scope: Scope, delivery: NewDelivery, at: Date, tx: Tx): Promise<void> {
    const { outbox, channels, users, queue } = this.#deps;
    if (!(await channels.destination(scope, delivery, tx))) return;
    const standing = await users.standing(scope, delivery.userId, tx);
    if (standing?.status !== "approved") return;
    await outbox.append(scope, delivery, at, tx);
    await queue.request({ kind: FORWARD_JOB, orgId: scope.orgId, runAt: at }, at, tx);
  }

  /** Drops what waits of a person who was blocked. One that is being sent at this moment may still arrive. */
  async drop(scope: Scope, userId: string, tx: Tx): Promise<void> {
    const { outbox } = this.#deps;
    await outbox.lock(scope, [userId], tx);
    await outbox.drop(scope, userId, tx);
  }

  /**
   * For who links people, and undoes it: puts what waits of `from`, and what is dead, behind the last of `to`, in its
   * order. With `identityIds` only what came by those identities; what tells of an erased message, or of a link, then
   * stays. Hold both people before.
   */
  async move(
    scope: Scope,
    who: { from: string; to: string; identityIds?: readonly string[] },
    tx: Tx,
  ): Promise<void> {
    const { outbox, queue, clock } = this.#deps;
    const now = clock();
    await outbox.lock(scope, [who.from, who.to], tx);
    await outbox.move(scope, who, now, tx);
    await outbox.end(scope, who.from, tx);
    await queue.request({ kind: FORWARD_JOB, orgId: scope.orgId, runAt: now }, now, tx);
  }
}
