import { z } from "zod";
import { type Principal, requireAdmin, requireOperator } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { isUuid } from "../uuid.ts";
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
  readonly #transactions: Transactions;
  readonly #clock: Clock;

  constructor(orgs: OrgRepository, transactions: Transactions, clock: Clock) {
    this.#orgs = orgs;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  /** @throws AppError NOT_FOUND */
  async find(slug: string, tx: Tx): Promise<Org> {
    const org = await this.#orgs.findBySlug(slug, tx);
    if (!org) throw new AppError("NOT_FOUND", "no org has this name");
    return org;
  }

  /** The org of that name, made if it is missing. Safe when several processes start at once. */
  async ensure(slug: string, tx: Tx): Promise<Org> {
    const org = { slug, name: slug, createdAt: this.#clock() };
    return (await this.#orgs.insert(org, tx)) ?? this.find(slug, tx);
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
      return org;
    });
  }

  /** A store by id or slug. A store of another org answers exactly as an unknown one: NOT_FOUND. */
  async findStore(scope: Scope, storeId: string, tx: Tx): Promise<Store> {
    const by = isUuid(storeId) ? { id: storeId } : { slug: storeId };
    const store = await this.#orgs.findStore(scope, by, tx);
    if (store) return store;
    throw new AppError("NOT_FOUND", "no store has this storeId", {
      hint: "Stores are made by the operator: souvenir stores create.",
    });
  }

  async listStores(by: Principal): Promise<Store[]> {
    requireAdmin(by);
    return this.#transactions.tenant(by, (tx) => this.#orgs.listStores(by, tx));
  }

  /** @throws AppError CONFLICT when the name is taken within the org */
  createStore(by: Principal, slug: string, name: string): Promise<Store> {
    requireAdmin(by);
    return this.#transactions.tenant(by, async (tx) => {
      const store = await this.#orgs.insertStore(by, { slug, name, createdAt: this.#clock() }, tx);
      if (!store) throw new AppError("CONFLICT", "a store of this name exists");
      return store;
    });
  }
}
