import { and, asc, eq } from "drizzle-orm";
import { channelAccounts } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

export type ChannelAccount = typeof channelAccounts.$inferSelect;

export class ChannelRepository {
  /** Needs a system transaction: the account says which org a delivery is for. */
  async findByAccount(channel: string, account: string, tx: Tx) {
    const [row] = await tx
      .select()
      .from(channelAccounts)
      .where(and(eq(channelAccounts.channel, channel), eq(channelAccounts.account, account)));
    return row;
  }

  /** The variables that hold tokens, of every org; needs a system transaction. */
  async tokenVariables(tx: Tx): Promise<string[]> {
    const rows = await tx
      .selectDistinct({ variable: channelAccounts.tokenVariable })
      .from(channelAccounts);
    return rows.flatMap(({ variable }) => variable ?? []);
  }

  async find({ orgId }: Scope, channel: string, account: string, tx: Tx) {
    const [row] = await tx
      .select()
      .from(channelAccounts)
      .where(
        and(
          eq(channelAccounts.orgId, orgId),
          eq(channelAccounts.channel, channel),
          eq(channelAccounts.account, account),
        ),
      );
    return row;
  }

  list({ orgId }: Scope, tx: Tx): Promise<ChannelAccount[]> {
    return tx
      .select()
      .from(channelAccounts)
      .where(eq(channelAccounts.orgId, orgId))
      .orderBy(asc(channelAccounts.channel), asc(channelAccounts.account));
  }

  /** @returns undefined when the account is taken, by whichever org */
  async insert(
    { orgId }: Scope,
    account: Omit<typeof channelAccounts.$inferInsert, "orgId">,
    tx: Tx,
  ) {
    const [row] = await tx
      .insert(channelAccounts)
      .values({ orgId, ...account })
      .onConflictDoNothing()
      .returning();
    return row;
  }

  async delete({ orgId }: Scope, channel: string, account: string, tx: Tx): Promise<boolean> {
    const rows = await tx
      .delete(channelAccounts)
      .where(
        and(
          eq(channelAccounts.orgId, orgId),
          eq(channelAccounts.channel, channel),
          eq(channelAccounts.account, account),
        ),
      )
      .returning({ id: channelAccounts.id });
    return rows.length > 0;
  }
}
