import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { hashKey } from "./key.ts";
import type { Principal } from "./principal.ts";
import { type KeyService, principalOf } from "./service.ts";
import type { SessionRepository } from "./session-repository.ts";

/** From signing in, used or not: a forgotten browser is signed out by the next morning. */
const LIFETIME_MS = 12 * 3_600_000;
/** A browser that nobody has used for this long is signed out too. */
export const IDLE_MS = 2 * 3_600_000;
/** When a session was used is written at most this often: most requests of a page only read. */
const USED_RESOLUTION_MS = 60_000;

export interface SignedIn {
  /** 256 random bits for the cookie; stored nowhere. */
  readonly token: string;
  readonly expiresAt: Date;
}

export interface SessionDependencies {
  readonly sessions: SessionRepository;
  readonly keys: KeyService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** People who signed in with an API key, and then need not send it again. */
export class Sessions {
  readonly #deps: SessionDependencies;

  constructor(deps: SessionDependencies) {
    this.#deps = deps;
  }

  /** @returns undefined for an unknown or revoked key */
  async signIn(key: string): Promise<SignedIn | undefined> {
    const { sessions, keys, transactions, clock } = this.#deps;
    const principal = await keys.authenticate(key);
    if (!principal) return undefined;
    const token = randomBytes(32).toString("base64url");
    const createdAt = clock();
    const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
    const session = { keyId: principal.keyId, hash: hashKey(token), createdAt, expiresAt };
    await transactions.tenant(principal, (tx) => sessions.insert(principal, session, tx));
    return { token, expiresAt };
  }

  /** Whom a session's key speaks for now; undefined once the session is over or idle, or its key was revoked. */
  find(token: string): Promise<Principal | undefined> {
    const { sessions, transactions, clock } = this.#deps;
    return transactions.system("key lookup", async (tx) => {
      const now = clock();
      const ago = (ms: number) => new Date(now.getTime() - ms);
      const found = await sessions.findKey(hashKey(token), { now, idleSince: ago(IDLE_MS) }, tx);
      if (!found) return undefined;
      const { key, sessionId, lastUsedAt } = found;
      const use = { at: now, staleBefore: ago(USED_RESOLUTION_MS) };
      if (lastUsedAt < use.staleBefore) await sessions.noteUse(key, sessionId, use, tx);
      return principalOf(key);
    });
  }

  signOut(principal: Principal, token: string): Promise<void> {
    const { sessions, transactions } = this.#deps;
    return transactions.tenant(principal, (tx) => sessions.delete(principal, hashKey(token), tx));
  }
}
