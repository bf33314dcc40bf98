import { and, eq, type SQL, sql } from "drizzle-orm";
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

  /** Whose these messages are, and of which store, without holding any. */
  find({ orgId }: Scope, account: Account, platformMessageIds: readonly string[], tx: Tx) {
    return tx
      .select({
        platformMessageId: chatMessages.platformMessageId,
        userId: chatMessages.userId,
        storeId: chatMessages.storeId,
      })
      .from(chatMessages)
      .where(
        and(
          eq(chatMessages.orgId, orgId),
          isIn(account),
          sql`${chatMessages.platformMessageId} = any(array(
            select json_array_elements_text(${JSON.stringify(platformMessageIds)}::json)))`,
        ),
      );
  }
}

function isIn({ channel, account }: Account) {
  return and(eq(chatMessages.channel, channel), eq(chatMessages.account, account));
}
