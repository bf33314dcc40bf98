import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { Standing } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import { CODE_PATTERN, codeIn, hashCode, newCode } from "./code.ts";
import type { CodeRepository } from "./code-repository.ts";
import type { LinkService } from "./service.ts";

const MINUTE = 60_000;
const VALID_MS = 15 * MINUTE;
const MOST_OPEN = 5;
/** Texts like a code within the time that one is valid: beyond it somebody guesses, and nothing they send is looked up. */
const MOST_TRIES = 10;

interface Scope {
  readonly orgId: string;
}

/** A private message of somebody that may be a code. */
export interface Said {
  readonly userId: string;
  readonly text: string | null;
  readonly channel: string;
  readonly account: string;
  readonly receivedAt: Date;
}

export interface CodeDependencies {
  readonly codes: CodeRepository;
  readonly links: LinkService;
  readonly users: UserService;
  readonly audit: AuditService;
  readonly messages: {
    countLike(
      scope: Scope,
      userId: string,
      wanted: { readonly pattern: string; readonly since: Date },
      tx: Tx,
    ): Promise<number>;
  };
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** One-time codes: issued for a person whom somebody knows, sent by them from another channel. */
export class LinkCodes {
  readonly #deps: CodeDependencies;

  constructor(deps: CodeDependencies) {
    this.#deps = deps;
  }

  /**
   * Makes a code for a person. It is in the answer and nowhere else.
   *
   * @throws AppError FORBIDDEN; NOT_FOUND; CONFLICT for somebody who is blocked; LIMIT_EXCEEDED
   */
  issue(by: Principal, userId: string): Promise<{ code: string; expiresAt: string }> {
    requireAdmin(by);
    const { codes, users, audit, transactions, clock } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const person = await users.findToChange(by, userId, tx);
      // Counted by one at a time.
      await users.lock(by, person, tx);
      requireUnblocked(await users.standing(by, person.userId, tx));
      const now = clock();
      if ((await codes.countOpen(by, person.userId, now, tx)) >= MOST_OPEN) {
        throw new AppError("LIMIT_EXCEEDED", `a person has at most ${MOST_OPEN} open codes`, {
          hint: "They end after 15 minutes, or when they are used.",
        });
      }
      const code = newCode();
      const expiresAt = new Date(now.getTime() + VALID_MS);
      const issued = { userId: person.userId, createdBy: by.keyId, createdAt: now, expiresAt };
      await codes.insert(by, { ...issued, hash: hashCode(by.orgId, code) }, tx);
      const subject = { subjectKind: "user", subjectId: person.userId } as const;
      await audit.record(
        by,
        { actor: by.keyId, action: "user.code_issued", ...subject, reason: null },
        tx,
      );
      return { code, expiresAt: expiresAt.toISOString() };
    });
  }

  /**
   * Links whoever sent a code to the person it was issued for. Owned by the archive's transaction.
   *
   * @returns undefined where the text is no open code, and where one of the two is blocked
   */
  async redeem(
    scope: Scope,
    said: Said,
    tx: Tx,
  ): Promise<{ linkId: string; userId: string } | undefined> {
    const { codes, links, users } = this.#deps;
    const code = await this.#openCode(scope, said, tx);
    if (!code) return undefined;
    for (const id of [code.userId, said.userId]) {
      const { userId } = await users.find(scope, id, tx);
      if ((await users.standing(scope, userId, tx))?.status === "blocked") return undefined;
    }
    if (!(await codes.use(scope, code.id, said.receivedAt, tx))) return undefined;
    return links.link(
      scope,
      {
        from: said.userId,
        to: code.userId,
        proof: "code",
        actor: "code",
        reason: `issued by ${code.createdBy}`,
        place: { channel: said.channel, account: said.account },
      },
      tx,
    );
  }

  async #openCode(scope: Scope, { userId, text, receivedAt }: Said, tx: Tx) {
    const letters = codeIn(text);
    if (letters === undefined) return undefined;
    const { codes, messages, users } = this.#deps;
    const since = new Date(receivedAt.getTime() - VALID_MS);
    const tries = await messages.countLike(scope, userId, { pattern: CODE_PATTERN, since }, tx);
    if (tries >= MOST_TRIES) return undefined;
    const hash = hashCode(scope.orgId, letters);
    const code = await codes.findOpen(scope, hash, receivedAt, tx);
    if (!code) return undefined;
    const { userId: owner } = await users.find(scope, code.userId, tx);
    return owner === userId ? undefined : code;
  }
}

function requireUnblocked(standing: Standing | undefined): void {
  if (standing?.status !== "blocked") return;
  throw new AppError("CONFLICT", "this person is blocked");
}
