import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type Principal, requireAdmin, requireOperator } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { isUuid } from "../uuid.ts";
import { type Arm, type MemoryChanges, type MemorySettings, memoryOf } from "./memory.ts";
import type { Org, OrgRepository, Store } from "./repository.ts";

/** The short name of an org or store. */
export const Slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63")
  .refine((slug) => !isUuid(slug), "must not look like an id");

/** The `storeId` parameter of tools and routes: the id or the slug. */
export const StoreId = z.string().min(1).max(63);

interface Scope {
  readonly orgId: string;
}

export class OrgService {
  readonly #orgs: OrgRepository;
  readonly #audit: AuditService;
  readonly #transactions: Transactions;
  readonly #clock: Clock;

  constructor(orgs: OrgRepository, audit: AuditService, transactions: Transactions, clock: Clock) {
    this.#orgs = orgs;
    this.#audit = audit;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  /** @throws AppError NOT_FOUND */
  async find(slug: string, tx: Tx): Promise<Org> {
    const org = await this.#orgs.findBySlug(slug, tx);
    if (!org) throw new AppError("NOT_FOUND", "no org has this name");
    return org;
  }

  /** Whether this org has the name. */
  async isNamed({ orgId }: Scope, slug: string, tx: Tx): Promise<boolean> {
    return (await this.#orgs.findBySlug(slug, tx))?.id === orgId;
  }

  /** The org of that name, made if it is missing. Safe when several processes start at once. */
  async ensure(slug: string, tx: Tx): Promise<Org> {
    const org = { slug, name: slug, createdAt: this.#clock() };
    return (await this.#orgs.insert(org, tx)) ?? this.find(slug, tx);
  }

  /** The short name of the caller's org. @throws AppError NOT_FOUND */
  async slugOf(scope: Scope, tx: Tx): Promise<string> {
    return (await this.#named(scope, tx)).slug;
  }

  /** The caller's org by its names. */
  own(by: Principal): Promise<Pick<Org, "slug" | "name">> {
    return this.#transactions.tenant(by, (tx) => this.#named(by, tx));
  }

  async #named(scope: Scope, tx: Tx): Promise<Pick<Org, "slug" | "name">> {
    const org = await this.#orgs.named(scope, tx);
    if (!org) throw new AppError("NOT_FOUND", "the org is gone");
    return org;
  }

  list(by: Principal): Promise<Org[]> {
    requireOperator(by);
    return this.#transactions.system("operator", (tx) => this.#orgs.list(tx));
  }

  /** @throws AppError CONFLICT when the name is taken */
  create(by: Principal, slug: string, name: string): Promise<Org> {
    requireOperator(by);
    return this.#transactions.system("operator", async (tx) => {
      const org = await this.#orgs.insert({ slug, name, createdAt: this.#clock() }, tx);
      if (!org) throw new AppError("CONFLICT", "an org of this name exists");
      const event = { actor: by.keyId, action: "org.created", reason: null };
      const subject = { subjectKind: "org", subjectId: org.id } as const;
      await this.#audit.record({ orgId: org.id }, { ...event, ...subject }, tx);
      return org;
    });
  }

  /** Whether anything is extracted for a person of the org, and recalled to them; without a person, in the org at all. */
  async memoryFor(scope: Scope, userId: string | undefined, tx: Tx): Promise<Arm> {
    return memoryOf(await this.#orgs.memory(scope, tx), userId);
  }

  /** Turns that the org may have extracted a day; null where it has set none. */
  async extractionDailyLimit(scope: Scope, tx: Tx): Promise<number | null> {
    return (await this.#orgs.memory(scope, tx))?.extractionDailyLimit ?? null;
  }

  async memory(by: Principal): Promise<MemorySettings> {
    requireAdmin(by);
    return this.#transactions.tenant(by, (tx) => this.#memory(by, tx));
  }

  /** @returns all settings as they are now */
  async changeMemory(by: Principal, changes: MemoryChanges): Promise<MemorySettings> {
    requireAdmin(by);
    return this.#transactions.tenant(by, async (tx) => {
      const before = await this.#memory(by, tx);
      if (Object.keys(changes).length > 0) await this.#orgs.updateMemory(by, changes, tx);
      const after = await this.#memory(by, tx);
      if (isDeepStrictEqual(after, before)) return after;
      const event = { actor: by.keyId, action: "org.memory_changed", reason: null };
      const subject = { subjectKind: "org", subjectId: by.orgId } as const;
      await this.#audit.record(by, { ...event, ...subject, details: { before, after } }, tx);
      return after;
    });
  }

  /** A store by id or slug. A store of another org answers exactly as an unknown one: NOT_FOUND. */
  async findStore(scope: Scope, storeId: string, tx: Tx): Promise<Store> {
    const by = isUuid(storeId) ? { id: storeId } : { slug: storeId };
    const store = await this.#orgs.findStore(scope, by, tx);
    if (store) return store;
    throw unknownStore();
  }

  async listStores(by: Principal): Promise<Store[]> {
    requireAdmin(by);
    return this.#transactions.tenant(by, (tx) => this.#orgs.listStores(by, tx));
  }

  /** The stores whose facts a key may look through: within its pins; a key of one person sees none. */
  visibleStores(by: Principal): Promise<Store[]> {
    const { userId, storeId } = by.pins;
    return this.#transactions.tenant(by, async (tx) => {
      if (userId !== undefined) return [];
      if (storeId !== undefined) return [await this.findStore(by, storeId, tx)];
      return this.#orgs.listStores(by, tx);
    });
  }

  /** One of them. @throws AppError NOT_FOUND */
  visibleStore(by: Principal, storeId: string): Promise<Store> {
    return this.#transactions.tenant(by, async (tx) => {
      const store = await this.findStore(by, storeId, tx);
      const { userId, storeId: pinned = store.id } = by.pins;
      if (userId === undefined && pinned === store.id) return store;
      throw unknownStore();
    });
  }

  /** @throws AppError CONFLICT when the name is taken within the org */
  createStore(by: Principal, slug: string, name: string): Promise<Store> {
    requireAdmin(by);
    return this.#transactions.tenant(by, async (tx) => {
      const store = await this.#orgs.insertStore(by, { slug, name, createdAt: this.#clock() }, tx);
      if (!store) throw new AppError("CONFLICT", "a store of this name exists");
      const event = { actor: by.keyId, action: "store.created", reason: null };
      await this.#audit.record(by, { ...event, subjectKind: "store", subjectId: store.id }, tx);
      return store;
    });
  }

  async #memory(scope: Scope, tx: Tx): Promise<MemorySettings> {
    const settings = await this.#orgs.memory(scope, tx);
    if (!settings) throw new AppError("NOT_FOUND", "the org is gone");
    return settings;
  }
}

export function unknownStore(): AppError {
  return new AppError("NOT_FOUND", "no store has this storeId", {
    hint: "Stores are made by the operator: npm run souvenir -- stores create SLUG.",
  });
}
