import { and, eq } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import type { Tx } from "../db/tenant.ts";

export type ArchivedMessage = typeof chatMessages.$inferSelect;

/** Archived messages one by one. */
export class MessageRepository {
  async find(
    { orgId }: { readonly orgId: string },
    id: string,
    tx: Tx,
  ): Promise<ArchivedMessage | undefined> {
    const [row] = await tx
      .select()
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.id, id)));
    return row;
  }
}
