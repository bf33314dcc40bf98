import { auditEvents } from "../../src/db/schema/audit.ts";
import { forwardDeliveries, forwardQueues } from "../../src/db/schema/forwarding.ts";
import { identityLinkMoves, identityLinks, linkCodes } from "../../src/db/schema/links.ts";
import { users } from "../../src/db/schema/users.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import type { TestApp } from "../support/app.ts";

/** Gives an org somebody who was linked to one of its people, a code, a message that waits to be forwarded, and a note of it. */
export async function seedChannels(
  { database }: TestApp,
  org: {
    readonly orgId: string;
    readonly slug: string;
    readonly userId: string;
    readonly identityId: string;
    readonly messageId: string;
    readonly account: string;
  },
  now: Date,
) {
  const { orgId, slug, userId, identityId, messageId, account } = org;
  return database.transactions.system("operator", async (tx) => {
    const [other] = await tx
      .insert(users)
      .values({ orgId, status: "approved", createdAt: now, linkedInto: userId })
      .returning();
    if (!other) throw new Error("not seeded");
    const between = { fromUserId: other.id, toUserId: userId };
    const [link] = await tx
      .insert(identityLinks)
      .values({ orgId, ...between, proof: "admin", actor: "x", at: now })
      .returning();
    if (!link) throw new Error("not seeded");
    await tx.insert(identityLinkMoves).values({ orgId, linkId: link.id, identityId });
    const [code] = await tx
      .insert(linkCodes)
      .values({
        ...{ orgId, userId, hash: `code of ${slug}`, createdBy: "x" },
        ...{ createdAt: now, expiresAt: new Date("9998-01-01T00:00:00Z") },
      })
      .returning();
    // Not due: the job that serves every org would take it.
    const nextAt = new Date("9998-01-01T00:00:00Z");
    await tx.insert(forwardQueues).values({ orgId, userId, lastPosition: 1, nextAt });
    await new JobQueue().request({ kind: "channels.forward", orgId, runAt: nextAt }, now, tx);
    const [delivery] = await tx
      .insert(forwardDeliveries)
      .values({
        ...{ orgId, userId, position: 1, event: "message.received", messageId },
        ...{ channel: "telegram", account, state: "dead", createdAt: now },
      })
      .returning();
    const subject = { subjectKind: "user", subjectId: userId };
    const [audit] = await tx
      .insert(auditEvents)
      .values({ orgId, at: now, actor: "x", action: "user.linked", ...subject })
      .returning();
    if (!code || !delivery || !audit) throw new Error("not seeded");
    return { other, link, code, delivery, audit };
  });
}
