import { and, eq, isNotNull, type SQL, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";
import type { DeliveryStatus } from "./message.ts";

interface Scope {
  readonly orgId: string;
}

interface Account {
  readonly channel: string;
  readonly account: string;
}

/** In the order in which they come. What was reported as failed and arrived all the same has arrived. */
const STAGES = "{sending,sent,failed,delivered,read}";

/** Messages by what their platform calls them. */
export class PlatformMessageRepository {
  /** Notes how far a message of ours came. Reports overtake each other: none undoes a later stage. */
  async setDeliveryStatus(
    { orgId }: Scope,
    message: Account & { readonly platformMessageId: string },
    status: DeliveryStatus,
    tx: Tx,
  ): Promise<void> {
    const stageOf = (value: SQL) => sql`array_position(${STAGES}::text[], ${value})`;
    const stage = stageOf(sql`${status}::text`);
    await tx
      .update(chatMessages)
      .set({ deliveryStatus: status })
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          isIn(message),
          eq(chatMessages.platformMessageId, message.platformMessageId),
          eq(chatMessages.direction, "outbound"),
          sql`${stage} > coalesce(${stageOf(sql`${chatMessages.deliveryStatus}`)}, 0)`,
        ),
      );
  }

  /** The messages of an account with these ids, without holding any. */
  find({ orgId }: Scope, account: Account, platformMessageIds: readonly string[], tx: Tx) {
    return tx
      .select({
        platformMessageId: sql<string>`${chatMessages.platformMessageId}`,
        userId: chatMessages.userId,
        storeId: chatMessages.storeId,
        kind: chatMessages.kind,
        text: chatMessages.text,
        editedAt: chatMessages.editedAt,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), isIn(account), isCalledOneOf(platformMessageIds)));
  }

  /** Whose these messages are, without holding any. */
  async ownersOf(
    { orgId }: Scope,
    account: Account,
    platformMessageIds: readonly string[],
    tx: Tx,
  ): Promise<string[]> {
    const rows = await tx
      .selectDistinct({ userId: chatMessages.userId })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          isIn(account),
          isCalledOneOf(platformMessageIds),
          isNotNull(chatMessages.userId),
        ),
      )
      .orderBy(chatMessages.userId);
    return rows.flatMap(({ userId }) => userId ?? []);
  }
}

function isIn({ channel, account }: Account) {
  return and(eq(chatMessages.channel, channel), eq(chatMessages.account, account));
}

/** One parameter: a platform may name more messages than a statement has parameters. */
function isCalledOneOf(platformMessageIds: readonly string[]): SQL {
  return sql`${chatMessages.platformMessageId} = any(array(
    select json_array_elements_text(${JSON.stringify(platformMessageIds)}::json)))`;
}
