import { z } from "zod";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { type OrgService, StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { AgentId } from "./agent.ts";
import { hashKey, newKey } from "./key.ts";
import { hasRole, KEY_ROLES, type Pins, type Principal, requireAdmin } from "./principal.ts";
import type { ApiKey, KeyRepository } from "./repository.ts";

/** "Last used" is kept to this many milliseconds, so that a busy key does not write with every call. */
const LAST_USED_RESOLUTION = 60_000;

export const NewKey = z.strictObject({
  name: z.string().min(1).max(100),
  role: z.enum(KEY_ROLES).default("member"),
  defaultAgent: AgentId.optional(),
  pinUserId: UserId.optional(),
  pinStoreId: StoreId.optional(),
  pinAgentId: AgentId.optional(),
});
export type NewKey = z.output<typeof NewKey>;

/** A key as it may be shown: without the key itself, which nobody has any more. */
export interface KeyInfo {
  readonly id: string;
  readonly name: string;
  readonly role: (typeof KEY_ROLES)[number];
  readonly defaultAgent: string;
  readonly pins: Pins;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export interface KeyDependencies {
  readonly keys: KeyRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly defaultAgent: string;
}

export class KeyService {
  readonly #deps: KeyDependencies;

  constructor(deps: KeyDependencies) {
    this.#deps = deps;
  }

  /** Who a key speaks for; undefined for an unknown or revoked one. */
  authenticate(key: string): Promise<Principal | undefined> {
    const { keys, transactions, clock } = this.#deps;
    return transactions.system("key lookup", async (tx) => {
      const row = await keys.findActive(hashKey(key), tx);
      if (!row) return undefined;
      const now = clock();
      const stale = new Date(now.getTime() - LAST_USED_RESOLUTION);
      if (row.lastUsedAt === null || row.lastUsedAt < stale) {
        await keys.noteUse(row.id, now, stale, tx);
      }
      return principalOf(row);
    });
  }

  /**
   * Makes a key of the caller's org. The key is in the answer and nowhere else.
   *
   * @throws AppError FORBIDDEN for a role above the caller's own; NOT_FOUND for an unknown pin
   */
  create(by: Principal, input: NewKey): Promise<{ key: string; info: KeyInfo }> {
    const { users, orgs, audit, transactions } = this.#deps;
    requireAdmin(by);
    if (!hasRole(by, input.role)) {
      throw new AppError("FORBIDDEN", "a key cannot make a key of a higher role");
    }
    return transactions.tenant(by, async (tx) => {
      const user = input.pinUserId && (await users.findOrCreate(by, input.pinUserId, tx));
      const store = input.pinStoreId && (await orgs.findStore(by, input.pinStoreId, tx));
      const created = await this.#insert(
        by.orgId,
        newKey(),
        {
          name: input.name,
          role: input.role,
          defaultAgent: input.defaultAgent ?? input.pinAgentId ?? this.#deps.defaultAgent,
          pinnedUserId: user ? user.userId : null,
          pinnedStoreId: store ? store.id : null,
          pinnedAgent: input.pinAgentId ?? null,
        },
        tx,
      );
      if (!created) throw new Error("a random key exists already");
      const { id, role, pins } = created.info;
      const event = { actor: by.keyId, action: "key.created", reason: null };
      const subject = { subjectKind: "key", subjectId: id } as const;
      await audit.record(by, { ...event, ...subject, details: { role, pins } }, tx);
      return created;
    });
  }

  async list(by: Principal): Promise<KeyInfo[]> {
    const { keys, transactions } = this.#deps;
    requireAdmin(by);
    const rows = await transactions.tenant(by, (tx) => keys.list(by, tx));
    return rows.map(toInfo);
  }

  /** Ends a key at once. @throws AppError NOT_FOUND; FORBIDDEN for a key of a higher role */
  revoke(by: Principal, id: string): Promise<KeyInfo> {
    const { keys, audit, transactions, clock } = this.#deps;
    requireAdmin(by);
    return transactions.tenant(by, async (tx) => {
      const now = clock();
      const row = isUuid(id) ? await keys.revoke(by, id, now, tx) : undefined;
      if (!row) throw new AppError("NOT_FOUND", "no key has this id");
      if (!hasRole(by, row.role)) {
        throw new AppError("FORBIDDEN", "a key cannot revoke a key of a higher role");
      }
      // A key that was revoked before keeps that time.
      if (row.revokedAt?.getTime() === now.getTime()) {
        const event = { actor: by.keyId, action: "key.revoked", reason: null };
        await audit.record(by, { ...event, subjectKind: "key", subjectId: row.id }, tx);
      }
      return toInfo(row);
    });
  }

  /**
   * Makes the first owner key of an org that has none: the given one, or a random one. A given key that was revoked
   * stays revoked, and one of another org stays that org's: a random one takes its place.
   *
   * @returns the key to show once; undefined where the org has an owner key already
   */
  async bootstrap(
    orgId: string,
    given: string | undefined,
    tx: Tx,
  ): Promise<{ key: string; generated: boolean } | undefined> {
    await this.#deps.keys.lockOwners({ orgId }, tx);
    if (await this.#deps.keys.hasActiveOwner({ orgId }, tx)) return undefined;
    const owner = {
      name: "first owner key",
      role: "owner",
      defaultAgent: this.#deps.defaultAgent,
      pinnedUserId: null,
      pinnedStoreId: null,
      pinnedAgent: null,
    } as const;
    if (given !== undefined && (await this.#insert(orgId, given, owner, tx))) {
      return { key: given, generated: false };
    }
    const key = newKey();
    await this.#insert(orgId, key, owner, tx);
    return { key, generated: true };
  }

  async #insert(
    orgId: string,
    key: string,
    row: Pick<
      ApiKey,
      "name" | "role" | "defaultAgent" | "pinnedUserId" | "pinnedStoreId" | "pinnedAgent"
    >,
    tx: Tx,
  ) {
    const { keys, clock } = this.#deps;
    const stored = { ...row, hash: hashKey(key), createdAt: clock() };
    const inserted = await keys.insert({ orgId }, stored, tx);
    return inserted && { key, info: toInfo(inserted) };
  }
}

export function principalOf(row: ApiKey): Principal {
  return {
    orgId: row.orgId,
    keyId: row.id,
    role: row.role,
    defaultAgent: row.defaultAgent,
    pins: pinsOf(row),
  };
}

function pinsOf(row: ApiKey): Pins {
  return {
    ...(row.pinnedUserId !== null && { userId: row.pinnedUserId }),
    ...(row.pinnedStoreId !== null && { storeId: row.pinnedStoreId }),
    ...(row.pinnedAgent !== null && { agentId: row.pinnedAgent }),
  };
}

function toInfo(row: ApiKey): KeyInfo {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    defaultAgent: row.defaultAgent,
    pins: pinsOf(row),
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
  };
}
