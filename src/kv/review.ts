import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Transactions } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { UserId } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import { type Entry, EntryKey } from "./entry.ts";
import type { CurrentEntry, KvRepository } from "./repository.ts";
import type { KvService } from "./service.ts";

/** Which entries to list. */
export const EntriesQuery = z.object({
  userId: UserId,
  /** `nextAfter` of the page before. */
  after: EntryKey.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export type EntriesQuery = z.output<typeof EntriesQuery>;

interface ListedEntry extends Entry {
  readonly bytes: number;
  readonly agentId: string;
  /** A key's id. */
  readonly writtenBy: string;
  readonly updatedAt: string;
}

export interface EntriesPage {
  /** By key. */
  readonly entries: readonly ListedEntry[];
  readonly nextAfter: string | null;
}

export interface KvReviewDependencies {
  readonly kv: KvRepository;
  readonly service: KvService;
  readonly users: UserService;
  readonly audit: AuditService;
  readonly transactions: Transactions;
}

/** A person's entries as people look through them and write them by hand, which the audit trail keeps. */
export class KvReview {
  readonly #deps: KvReviewDependencies;

  constructor(deps: KvReviewDependencies) {
    this.#deps = deps;
  }

  /** @throws AppError NOT_FOUND for foreign ids and outside the key's pins */
  list(principal: Principal, { userId, after, limit }: EntriesQuery): Promise<EntriesPage> {
    const { kv, users, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findWithin(principal, userId, tx);
      const rows = await kv.entries(principal, person.userId, { after, limit: limit + 1 }, tx);
      const entries = rows.slice(0, limit).map(listed);
      return { entries, nextAfter: rows.length > limit ? (entries.at(-1)?.key ?? null) : null };
    });
  }

  /** @throws AppError as `list`; NOT_FOUND for a key that is not there */
  find(principal: Principal, userId: string, key: string): Promise<ListedEntry> {
    const { kv, users, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findWithin(principal, userId, tx);
      const [row] = await kv.entries(principal, person.userId, { key, limit: 1 }, tx);
      if (!row) throw noSuchEntry();
      return listed(row);
    });
  }

  /** @throws AppError as `list`; LIMIT_EXCEEDED */
  set(
    principal: Principal,
    userId: string,
    { key, value }: Entry,
    reason: string | null,
  ): Promise<{ key: string; created: boolean; updatedAt: string }> {
    const { service, users, audit, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findToChangeWithin(principal, userId, tx);
      const [written] = await service.storeIn(principal, userId, [{ key, value }], tx);
      if (!written) throw new Error("an entry was not written");
      const subject = { subjectKind: "user", subjectId: person.userId } as const;
      const event = { actor: principal.keyId, action: "user.entry_set", ...subject, reason };
      await audit.record(principal, { ...event, details: { key } }, tx);
      return { ...written, updatedAt: written.updatedAt.toISOString() };
    });
  }

  /** @throws AppError as `list`; NOT_FOUND for a key that is not there */
  remove(
    principal: Principal,
    userId: string,
    key: string,
    reason: string | null,
  ): Promise<{ deleted: true }> {
    const { kv, users, audit, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findToChangeWithin(principal, userId, tx);
      if ((await kv.delete(principal, person.userId, [key], tx)) === 0) {
        throw noSuchEntry();
      }
      const subject = { subjectKind: "user", subjectId: person.userId } as const;
      const event = { actor: principal.keyId, action: "user.entry_deleted", ...subject, reason };
      await audit.record(principal, { ...event, details: { key } }, tx);
      return { deleted: true };
    });
  }
}

function listed({ value, updatedAt, ...row }: CurrentEntry): ListedEntry {
  const at = new Date(updatedAt).toISOString();
  return { ...row, value: JSON.parse(value) as unknown, updatedAt: at };
}

function noSuchEntry(): AppError {
  return new AppError("NOT_FOUND", "the person has no entry with this key");
}
