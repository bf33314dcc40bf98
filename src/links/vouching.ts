import type { AuditEvent, AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import type { Identities } from "../users/identities.ts";
import type { Standing, UserStatus } from "../users/person.ts";
import type { LinkRepository } from "./repository.ts";

interface Scope {
  readonly orgId: string;
}

type Act = Pick<AuditEvent, "actor" | "reason"> & { readonly linkId: string };

interface VouchingDependencies {
  readonly links: LinkRepository;
  readonly identities: Identities;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/** What the status of one person means for whoever is linked to them, or parted from them. The caller holds everybody. */
export class Vouching {
  readonly #deps: VouchingDependencies;

  constructor(deps: VouchingDependencies) {
    this.#deps = deps;
  }

  /** Whoever waits for approval and is one with somebody who has it need not wait. */
  async approve(
    scope: Scope,
    { from, to }: { readonly from: Standing; readonly to: Standing & { readonly id: string } },
    act: Act,
    tx: Tx,
  ): Promise<void> {
    if (from.status !== "approved" || to.status !== "pending") return;
    await this.#set(scope, to.id, { before: to.status, status: "approved" }, act, tx);
  }

  /**
   * After an undo: whoever was approved by a link alone waits again, unless somebody who is approved is one with them
   * still. What an admin decided since stays.
   */
  async takeBack(scope: Scope, userIds: readonly string[], act: Act, tx: Tx): Promise<void> {
    const { links, identities, audit } = this.#deps;
    for (const id of new Set(userIds)) {
      const decided = await audit.lastStatus(scope, id, tx);
      if (decided?.action !== "user.approved" || decided.details?.linkId === undefined) continue;
      let isVouchedFor = false;
      for (const other of await links.below(scope, id, tx)) {
        isVouchedFor ||= (await identities.standing(scope, other, tx))?.status === "approved";
      }
      if (!isVouchedFor)
        await this.#set(scope, id, { before: "approved", status: "pending" }, act, tx);
    }
  }

  /** Who was blocked as one is blocked as two: the one who is parted from them may be whom it was about. */
  async keepBlocked(
    scope: Scope,
    { from, userId }: { readonly from: Standing; readonly userId: string },
    act: Act,
    tx: Tx,
  ): Promise<void> {
    const before = (await this.#deps.identities.standing(scope, userId, tx))?.status;
    if (from.status !== "blocked" || before === undefined || before === "blocked") return;
    await this.#set(scope, userId, { before, status: "blocked" }, act, tx);
  }

  async #set(
    scope: Scope,
    userId: string,
    { before, status }: { readonly before: UserStatus; readonly status: UserStatus },
    { actor, reason, linkId }: Act,
    tx: Tx,
  ): Promise<void> {
    const { identities, audit, clock } = this.#deps;
    await identities.setStatus(scope, userId, status, clock(), tx);
    const subject = { subjectKind: "user", subjectId: userId } as const;
    const event = { actor, action: `user.${status}`, ...subject, reason };
    await audit.record(scope, { ...event, details: { before, linkId } }, tx);
  }
}
