import { and, asc, eq, inArray } from "drizzle-orm";
import { chatMessageRevisions, chatMessages } from "../db/schema/chat.ts";
import { users } from "../db/schema/users.ts";
import type { Tx } from "../db/tenant.ts";

interface Scope {
  readonly orgId: string;
}

/** Archived messages as facts name them: with who said them, and what they said before they were edited. */
export class SourceRepository {
  async ofIds({ orgId }: Scope, ids: readonly string[], tx: Tx) {
    if (ids.length === 0) return [];
    const rows = await tx
      .select({
        id: chatMessages.id,
        userId: chatMessages.userId,
        firstName: users.firstName,
        username: users.username,
        direction: chatMessages.direction,
        kind: chatMessages.kind,
        channel: chatMessages.channel,
        sentAt: chatMessages.sentAt,
        optedOut: chatMessages.optedOut,
        text: chatMessages.text,
      })
      .from(chatMessages)
      .leftJoin(users, and(eq(users.orgId, orgId), eq(users.id, chatMessages.userId)))
      .where(and(eq(chatMessages.orgId, orgId), inArray(chatMessages.id, [...ids])));
    const earlier = await this.#earlier({ orgId }, ids, tx);
    return rows.map(({ firstName, username, ...message }) => ({
      ...message,
      personName: firstName ?? (username === null ? null : `@${username}`),
      earlier: (earlier.get(message.id) ?? []).map(({ text }) => text),
    }));
  }

  async #earlier({ orgId }: Scope, ids: readonly string[], tx: Tx) {
    const { messageId, text, revision } = chatMessageRevisions;
    const rows = await tx
      .select({ messageId, text })
      .from(chatMessageRevisions)
      .where(and(eq(chatMessageRevisions.orgId, orgId), inArray(messageId, [...ids])))
      .orderBy(asc(messageId), asc(revision));
    return Map.groupBy(rows, (row) => row.messageId);
  }
}
