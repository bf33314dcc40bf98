import { createHash } from "node:crypto";
import type { Tx } from "../db/tenant.ts";

/** Where a message was said. */
export interface Conversation {
  readonly channel: string;
  readonly account: string;
  readonly conversationId: string;
}

/** Looks up an archived message's conversation; undefined for what is not archived. */
export interface Conversations {
  conversationOf(
    org: { readonly orgId: string },
    messageId: string,
    tx: Tx,
  ): Promise<Conversation | undefined>;
}

/** Tells conversations apart without naming them: the platform's ids stay in the archive. */
export function conversationHash({ channel, account, conversationId }: Conversation): string {
  return createHash("sha256")
    .update(JSON.stringify([channel, account, conversationId]))
    .digest("base64url")
    .slice(0, 22);
}
