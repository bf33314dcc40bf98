import { and, desc, eq, isNull, lt, type SQL } from "drizzle-orm";
import { ruleVersions } from "../db/schema/rules.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

/** null: the org's own. */
type Owner = string | null;

export type RulesRow = typeof ruleVersions.$inferSelect;
type NewRow = Omit<typeof ruleVersions.$inferInsert, "id" | "orgId">;

const { id, orgId, storeId, version, tokens, reason, createdBy, createdAt } = ruleVersions;
/** All but the text. */
const listed = { id, orgId, storeId, version, tokens, reason, createdBy, createdAt };

export class RulesRepository {
  /** Newest first, without their texts. */
  list(
    { orgId }: Scope,
    owner: Owner,
    { before, limit }: { readonly before: number | undefined; readonly limit: number },
    tx: Tx,
  ): Promise<Omit<RulesRow, "text">[]> {
    return tx
      .select(listed)
      .from(ruleVersions)
      .where(
        and(
          eq(ruleVersions.orgId, orgId),
          ownedBy(owner),
          before === undefined ? undefined : lt(ruleVersions.version, before),
        ),
      )
      .orderBy(desc(ruleVersions.version))
      .limit(limit);
  }

  /** The one in force. */
  async latest({ orgId }: Scope, owner: Owner, tx: Tx): Promise<RulesRow | undefined> {
    const [row] = await tx
      .select()
      .from(ruleVersions)
      .where(and(eq(ruleVersions.orgId, orgId), ownedBy(owner)))
      .orderBy(desc(ruleVersions.version))
      .limit(1);
    return row;
  }

  async find(
    { orgId }: Scope,
    by: { readonly id: string } | { readonly owner: Owner; readonly version: number },
    tx: Tx,
  ): Promise<RulesRow | undefined> {
    const match =
      "id" in by
        ? eq(ruleVersions.id, by.id)
        : and(ownedBy(by.owner), eq(ruleVersions.version, by.version));
    const [row] = await tx
      .select()
      .from(ruleVersions)
      .where(and(eq(ruleVersions.orgId, orgId), match));
    return row;
  }

  /** @returns undefined when the version exists: somebody saved at the same time */
  async insert({ orgId }: Scope, row: NewRow, tx: Tx): Promise<RulesRow | undefined> {
    const [inserted] = await tx
      .insert(ruleVersions)
      .values({ orgId, ...row })
      .onConflictDoNothing()
      .returning();
    return inserted;
  }
}

function ownedBy(owner: Owner): SQL {
  return owner === null ? isNull(ruleVersions.storeId) : eq(ruleVersions.storeId, owner);
}
