import { and, asc, eq } from "drizzle-orm";
import { orgs, stores } from "../db/schema/orgs.ts";
import type { Tx } from "../db/tenant.ts";
import type { MemoryChanges, MemorySettings } from "./memory.ts";

export type Org = typeof orgs.$inferSelect;
export type Store = typeof stores.$inferSelect;

interface Scope {
  readonly orgId: string;
}

const memoryColumns = {
  enabled: orgs.memoryEnabled,
  offShare: orgs.memoryOffShare,
  extractionDailyLimit: orgs.extractionDailyLimit,
};

export class OrgRepository {
  /** Needs a system transaction: orgs are looked up before there is a tenant. */
  async findBySlug(slug: string, tx: Tx): Promise<Org | undefined> {
    const [row] = await tx.select().from(orgs).where(eq(orgs.slug, slug));
    return row;
  }

  list(tx: Tx): Promise<Org[]> {
    return tx.select().from(orgs).orderBy(asc(orgs.slug));
  }

  /** @returns undefined when the org is gone */
  async named({ orgId }: Scope, tx: Tx): Promise<Pick<Org, "slug" | "name"> | undefined> {
    const [row] = await tx
      .select({ slug: orgs.slug, name: orgs.name })
      .from(orgs)
      .where(eq(orgs.id, orgId));
    return row;
  }

  /** How an org uses memory. @returns undefined when the org is gone */
  async memory({ orgId }: Scope, tx: Tx): Promise<MemorySettings | undefined> {
    const [row] = await tx.select(memoryColumns).from(orgs).where(eq(orgs.id, orgId));
    return row;
  }

  async updateMemory({ orgId }: Scope, changes: MemoryChanges, tx: Tx): Promise<void> {
    await tx
      .update(orgs)
      .set({
        ...(changes.enabled !== undefined && { memoryEnabled: changes.enabled }),
        ...(changes.offShare !== undefined && { memoryOffShare: changes.offShare }),
        ...(changes.extractionDailyLimit !== undefined && {
          extractionDailyLimit: changes.extractionDailyLimit,
        }),
      })
      .where(eq(orgs.id, orgId));
  }

  /** @returns undefined when the slug is taken */
  async insert(org: { slug: string; name: string; createdAt: Date }, tx: Tx) {
    const [row] = await tx.insert(orgs).values(org).onConflictDoNothing().returning();
    return row;
  }

  async findStore({ orgId }: Scope, by: { id: string } | { slug: string }, tx: Tx) {
    const match = "id" in by ? eq(stores.id, by.id) : eq(stores.slug, by.slug);
    const [row] = await tx
      .select()
      .from(stores)
      .where(and(eq(stores.orgId, orgId), match));
    return row;
  }

  listStores({ orgId }: Scope, tx: Tx): Promise<Store[]> {
    return tx.select().from(stores).where(eq(stores.orgId, orgId)).orderBy(asc(stores.slug));
  }

  /** @returns undefined when the slug is taken */
  async insertStore(
    { orgId }: Scope,
    store: { slug: string; name: string; createdAt: Date },
    tx: Tx,
  ) {
    const [row] = await tx
      .insert(stores)
      .values({ orgId, ...store })
      .onConflictDoNothing()
      .returning();
    return row;
  }
}
