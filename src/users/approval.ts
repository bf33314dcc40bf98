import { z } from "zod";
import { type Principal, requireAdmin } from "../access/principal.ts";
import { type AuditService, Reason } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { UserStatus } from "./person.ts";
import type { UserRepository } from "./repository.ts";
import { type UserService, unknownPerson } from "./service.ts";

interface Scope {
  readonly orgId: string;
}

/** What is decided about a person, and why. */
export const NewStatus = z.strictObject({ status: UserStatus, reason: Reason });
export type NewStatus = z.output<typeof NewStatus>;

export interface PersonStatus {
  readonly userId: string;
  readonly status: UserStatus;
  readonly approvedAt: string | null;
}

export interface ApprovalDependencies {
  readonly people: UserRepository;
  readonly users: UserService;
  readonly audit: AuditService;
  /** Ends what was begun with a person, when they are blocked. */
  readonly onBlocked: (scope: Scope, userId: string, at: Date, tx: Tx) => Promise<void>;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Who may use the agent: an org's admins decide. */
export class Approval {
  readonly #deps: ApprovalDependencies;

  constructor(deps: ApprovalDependencies) {
    this.#deps = deps;
  }

  /**
   * Approves or blocks a person, or takes either back. What they wrote before they were approved is never learned from nor
   * forwarded; what waits of somebody who is blocked is dropped.
   *
   * @throws AppError FORBIDDEN; NOT_FOUND
   */
  decide(by: Principal, userId: string, { status, reason }: NewStatus): Promise<PersonStatus> {
    requireAdmin(by);
    const { people, users, audit, onBlocked, transactions, clock } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const person = await users.findToChange(by, userId, tx);
      await users.lock(by, person, tx);
      const before = await users.standing(by, person.userId, tx);
      const at = clock();
      const approvedAt = await people.setStatus(by, person.userId, status, at, tx);
      if (!before || approvedAt === undefined) throw unknownPerson();
      if (status === "blocked") await onBlocked(by, person.userId, at, tx);
      const subject = { subjectKind: "user", subjectId: person.userId } as const;
      const details = { before: before.status };
      await audit.record(
        by,
        { actor: by.keyId, action: `user.${status}`, ...subject, reason, details },
        tx,
      );
      return { userId: person.userId, status, approvedAt: approvedAt?.toISOString() ?? null };
    });
  }
}
