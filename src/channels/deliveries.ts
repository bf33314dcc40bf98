import { z } from "zod";
import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { PageQuery, pageOf } from "../page.ts";
import { isUuid } from "../uuid.ts";
import type { DeliveryRepository } from "./delivery-repository.ts";
import { FORWARD_JOB } from "./outbox.ts";
import type { DeliveryRow } from "./outbox-repository.ts";

/** Replayed in one transaction. */
const BATCH = 1_000;

/** Query of `GET /v1/deliveries`. */
export const DeliveryQuery = z.strictObject({
  /** Default: those that need somebody. */
  state: z.enum(["dead", "pending"]).default("dead"),
  ...PageQuery,
});
export type DeliveryQuery = z.output<typeof DeliveryQuery>;

/** A delivery as an admin sees it: ids and states, no contents. */
export type DeliveryRecord = Omit<DeliveryRow, "orgId" | "position">;

interface DeliveriesDependencies {
  readonly deliveries: DeliveryRepository;
  readonly queue: JobQueue;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Lets the runner look for due jobs. */
  readonly wake: () => void;
}

/** What an org's admins see of what is forwarded, and do with what was given up. */
export class Deliveries {
  readonly #deps: DeliveriesDependencies;

  constructor(deps: DeliveriesDependencies) {
    this.#deps = deps;
  }

  /** Newest first. */
  list(
    by: Principal,
    { state, limit, before }: DeliveryQuery,
  ): Promise<{ deliveries: DeliveryRecord[]; nextBefore: string | null }> {
    requireAdmin(by);
    const { deliveries, transactions } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const rows = await deliveries.list(by, { state, before, limit: limit + 1 }, tx);
      const { page, nextBefore } = pageOf(rows, limit);
      return { deliveries: page.map(recordOf), nextBefore };
    });
  }

  /**
   * Tries a dead delivery for another day. For one that waits, e.g. while the runtime was away, the person's queue is tried
   * now.
   *
   * @throws AppError NOT_FOUND
   */
  async replay(by: Principal, id: string): Promise<DeliveryRecord> {
    requireAdmin(by);
    const { deliveries, audit, transactions, wake } = this.#deps;
    const replayed = await transactions.tenant(by, async (tx) => {
      const row = isUuid(id) ? await deliveries.find(by, id, tx) : undefined;
      if (!row) throw new AppError("NOT_FOUND", "no delivery has this id");
      await this.#replay(by, [row], tx);
      const event = { actor: by.keyId, action: "delivery.replayed", reason: null };
      await audit.record(by, { ...event, subjectKind: "delivery", subjectId: id }, tx);
      return deliveries.find(by, id, tx);
    });
    wake();
    if (!replayed) throw new Error("a delivery vanished under its queue's lock");
    return recordOf(replayed);
  }

  /** The same for every dead delivery of the org. @returns how many */
  async replayAll(by: Principal): Promise<{ replayed: number }> {
    requireAdmin(by);
    const { deliveries, audit, transactions, wake } = this.#deps;
    let replayed = 0;
    for (;;) {
      // The newest first: what is replayed later comes in front.
      const some = await transactions.tenant(by, async (tx) => {
        const count = await this.#replay(by, await deliveries.dead(by, BATCH, tx), tx);
        if (count === 0) return count;
        const event = { actor: by.keyId, action: "delivery.replayed_all", reason: null };
        const subject = { subjectKind: "org", subjectId: by.orgId } as const;
        await audit.record(by, { ...event, ...subject, details: { count } }, tx);
        return count;
      });
      replayed += some;
      wake();
      if (some === 0) return { replayed };
    }
  }

  async #replay(
    by: Principal,
    dead: readonly Pick<DeliveryRow, "id" | "userId">[],
    tx: Tx,
  ): Promise<number> {
    const { deliveries, queue, clock } = this.#deps;
    if (dead.length === 0) return 0;
    const now = clock();
    const ids = dead.map(({ id }) => id);
    const userIds = [...new Set(dead.map(({ userId }) => userId))];
    const replayed = await deliveries.replay(by, { ids, userIds }, now, tx);
    await queue.request({ kind: FORWARD_JOB, orgId: by.orgId, runAt: now }, now, tx);
    return replayed;
  }
}

function recordOf({ orgId: _, position: __, ...row }: DeliveryRow): DeliveryRecord {
  return row;
}
