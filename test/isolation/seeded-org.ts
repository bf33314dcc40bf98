import { and, eq } from "drizzle-orm";
import { apiKeys, idempotentCalls, sessions } from "../../src/db/schema/access.ts";
import { channelUpdates, chatMessages } from "../../src/db/schema/chat.ts";
import { factDecisions } from "../../src/db/schema/facts.ts";
import { orgs } from "../../src/db/schema/orgs.ts";
import { extractionUsage, turns } from "../../src/db/schema/turns.ts";
import { channelIdentities } from "../../src/db/schema/users.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import type { TestApp } from "../support/app.ts";
import { editedMessage, privateMessage } from "../support/telegram.ts";
import { seedChannels } from "./seeded-channels.ts";
import { seedPage } from "./seeded-page.ts";
import { seedVectors } from "./seeded-vectors.ts";

export const NOON = new Date("2026-03-01T12:00:00.000Z");

/** What a channel account's variable holds, for `openApp`'s `secretOf`. */
export const secretOf = (variable: string) => `secret-in-${variable}`;

/** Something of every kind, all of one org. */
export type SeededOrg = Awaited<ReturnType<typeof seedOrg>>;

/** Makes an org through the server's own doors and fills every table with rows of it. */
export async function seedOrg(app: TestApp, slug: string, person = 100) {
  const owner = await app.createKey({ name: `owner of ${slug}`, role: "owner" }, slug);
  const admin = await app.createKey({ name: `admin of ${slug}`, role: "admin" }, slug);
  const member = await app.createKey({ name: `member of ${slug}` }, slug);
  const store = await app.v1("POST", "/v1/stores", { slug: "shop" }, slug);
  const storeId = String(store.body.id);
  const account = `bot-${slug}`;
  const secretVariable = `SECRET_${slug.toUpperCase().replaceAll("-", "_")}`;
  const channel = { channel: "telegram", account, secretVariable, storeId };
  const added = await app.v1("POST", "/v1/channels", channel, slug);
  if (added.status !== 201) throw new Error(JSON.stringify(added.body));
  const secret = secretOf(secretVariable);
  await deliver(app, account, secret, privateMessage(person, { message_id: 7, text: "first" }));
  await deliver(app, account, secret, editedMessage(person, { message_id: 7, text: "edited" }));

  const userId = `telegram:${person}`;
  const context = await app.ok("get_user_context", { userId }, member);
  const { id: internalId } = context.user as { id: string };
  await app.ok("update_memory", { userId, key: "colour", value: `of ${slug}` }, member);
  const turn = await app.ok(
    "archive_turn",
    { userId, channel: "web", userMessage: `said in ${slug}`, assistantMessage: "noted" },
    member,
  );
  const remember = async (scope: "org" | "store" | "user") => {
    const owned = { org: {}, store: { storeId }, user: { userId } }[scope];
    const source = { sourceMessageId: turn.userMessageId, idempotencyKey: `${scope}-1` };
    const fact = { scope, key: "secret.plan", value: `plan of ${slug}`, ...owned, ...source };
    return String((await app.ok("remember_fact", fact, member)).factId);
  };
  const facts = {
    org: await remember("org"),
    store: await remember("store"),
    user: await remember("user"),
  };
  const history = await app.ok("get_chat_history", { userId, limit: 1 }, member);

  const found = await app.database.transactions.system("operator", async (tx) => {
    const [org] = await tx.select().from(orgs).where(eq(orgs.slug, slug));
    const orgId = org?.id ?? "";
    const ofOrg = eq(apiKeys.orgId, orgId);
    const [key] = await tx
      .select()
      .from(apiKeys)
      .where(and(ofOrg, eq(apiKeys.role, "member")));
    const [call] = await tx
      .select()
      .from(idempotentCalls)
      .where(eq(idempotentCalls.orgId, orgId))
      .limit(1);
    const [identity] = await tx
      .select()
      .from(channelIdentities)
      .where(eq(channelIdentities.orgId, orgId));
    const [message] = await tx
      .select()
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), eq(chatMessages.account, account)));
    const [update] = await tx
      .select()
      .from(channelUpdates)
      .where(eq(channelUpdates.orgId, orgId))
      .limit(1);
    const queue = new JobQueue();
    const job = { kind: `job-${slug}`, dedupeKey: slug, orgId, payload: { slug }, runAt: NOON };
    await queue.enqueue(job, NOON, tx);
    const claimed = await queue.claim([job], NOON, 60_000, tx);
    await queue.enqueue({ ...job, dedupeKey: `${slug}-2` }, NOON, tx);
    if (!key || !call || !identity || !message || !claimed || !update)
      throw new Error("not seeded");
    const { channel: spokenOn, conversationId } = message;
    const place = { channel: spokenOn, account, conversationId, agentId: "atlas" };
    const times = { openedAt: NOON, lastMessageAt: NOON };
    const [open] = await tx
      .insert(turns)
      .values({ orgId, userId: identity.userId, ...place, ...times, state: "open", arm: "on" })
      .returning();
    if (!open) throw new Error("not seeded");
    await tx.update(chatMessages).set({ turnId: open.id }).where(eq(chatMessages.id, message.id));
    const sessionHash = `session of ${slug}`;
    const [session] = await tx
      .insert(sessions)
      .values({
        ...{ orgId, keyId: key.id, hash: sessionHash, createdAt: NOON },
        expiresAt: new Date("9998-01-01T00:00:00Z"),
      })
      .returning();
    if (!session) throw new Error("not seeded");
    const day = "2026-03-01";
    await tx.insert(extractionUsage).values({ orgId, day });
    const decision = { scope: "user", userId: identity.userId, factId: facts.user } as const;
    const pocket = { agentId: "atlas", key: "secret.plan" };
    await tx
      .insert(factDecisions)
      .values({ orgId, ...decision, ...pocket, kind: "pin", actor: "x", at: NOON });
    const { updateId } = update;
    return {
      orgId,
      updateId,
      key,
      call,
      identity,
      message,
      claimed,
      job,
      turn: open,
      sessionHash,
      sessionId: session.id,
      day,
    };
  });
  const vectors = await seedVectors(app, found.orgId, NOON);
  const { orgId, identity, message } = found;
  const ids = { orgId, slug, userId: identity.userId, identityId: identity.id };
  const channels = await seedChannels(app, { ...ids, messageId: message.id, account }, NOON);
  const factIds = [facts.org, facts.user];
  const page = await seedPage(app, { orgId, slug, factIds }, NOON);
  return {
    ...found,
    vectors,
    channels,
    page,
    slug,
    keys: { owner, admin, member },
    storeId,
    account,
    secret,
    secretVariable,
    userId: internalId,
    externalId: String(person),
    turnMessageId: String(turn.userMessageId),
    facts,
    cursor: String(history.nextBefore),
  };
}

export async function deliver(app: TestApp, account: string, secret: string, update: object) {
  const response = await app.http.inject({
    method: "POST",
    url: `/webhooks/telegram/${account}`,
    headers: {
      "content-type": "application/json",
      "x-telegram-bot-api-secret-token": secret,
    },
    payload: JSON.stringify(update),
  });
  return response.statusCode;
}
