import { and, eq } from "drizzle-orm";
import { v7 } from "uuid";
import type { Principal } from "../../src/access/principal.ts";
import type { ChannelMessage } from "../../src/chat/message.ts";
import { readConfig } from "../../src/config.ts";
import { Database } from "../../src/db/client.ts";
import { factTables, memoryEvents } from "../../src/db/schema/facts.ts";
import { jobs } from "../../src/db/schema/jobs.ts";
import type { Embedder } from "../../src/embeddings/embedder.ts";
import { Comparison } from "../../src/facts/comparison.ts";
import type { FactScopeName } from "../../src/facts/fact.ts";
import { FactKeyRepository } from "../../src/facts/key-repository.ts";
import { Remember } from "../../src/facts/remember.ts";
import { FactRepository } from "../../src/facts/repository.ts";
import { Metrics } from "../../src/http/metrics.ts";
import { Recall } from "../../src/recall/query.ts";
import { buildServices } from "../../src/services.ts";
import { TestClock } from "../support/clock.ts";
import { createDatabase, type Engine } from "../support/database.ts";

const CONFIG = readConfig({ DATA_DIR: "/nonexistent", EMBEDDER: "none", DEFAULT_AGENT: "atlas" });
/** Whom facts and messages are of unless told otherwise. */
const PERSON = "5000000001";

/**
 * A database of a test file's own, in which every test gets orgs of its own.
 *
 * @param embedder what searches by meaning and compares values; undefined: nothing does
 */
export async function openServices(engine: Engine, embedder?: Embedder) {
  const created = await createDatabase(engine);
  const database = await Database.open({
    url: created.env.DATABASE_URL,
    dataDir: created.env.DATA_DIR ?? "",
  });
  return {
    fresh: () => tenantOf(database, embedder),
    async close() {
      await database.close();
      await created.dispose();
    },
  };
}

/** The services as the server wires them, for a new org, beside another new one, with a clock that is moved by hand. */
async function tenantOf(database: Database, embedder: Embedder | undefined) {
  const { transactions } = database;
  const clock = new TestClock();
  const services = await buildServices({
    config: CONFIG,
    database,
    clock: clock.now,
    metrics: new Metrics(),
    embedder,
    onNotice: () => {},
    secretOf: () => undefined,
    wake: () => {},
    wait: () => Promise.resolve(),
  });
  const { orgs, users, facts, review, consolidation, chat, meaning, embedding } = services;
  const { orgReview, duplicates, explanations, turns } = services;
  const principal = async (): Promise<Principal> => {
    const org = await transactions.system("operator", (tx) => orgs.ensure(`org-${v7()}`, tx));
    return { orgId: org.id, keyId: "key-1", role: "owner", defaultAgent: "atlas", pins: {} };
  };
  const owner = await principal();
  return {
    clock,
    facts,
    review,
    orgReview,
    duplicates,
    explanations,
    turns,
    chat,
    orgs,
    rules: services.rules,
    audit: services.audit,
    recalling: services.recall,
    owner,
    stranger: await principal(),
    transactions,
    users,
    meaning,
    embedding,
    /** Remembers a user fact of one person unless told otherwise. */
    remember: (input: Readonly<Record<string, unknown>>, by: Principal = owner) =>
      facts.remember(
        by,
        Remember.parse({
          ...(!("scope" in input) && { scope: "user", userId: PERSON }),
          ...input,
        }),
      ),
    /** Recalls what is known of the same person unless told otherwise. */
    recall: (input: Readonly<Record<string, unknown>> = {}, by: Principal = owner) =>
      services.recall.recall(by, Recall.parse({ userId: PERSON, ...input })),
    /** Archives a message of the same person unless told otherwise. @returns its id on the platform */
    async say(text: string, over: Partial<ChannelMessage> = {}): Promise<string> {
      const platformMessageId = v7();
      const message: ChannelMessage = {
        ...{ direction: "inbound", kind: "text", text, sentAt: clock.now(), forwarded: false },
        ...{ conversationId: "c", platformMessageId, sender: { externalId: PERSON }, payload: {} },
        ...over,
      };
      await chat.archive({
        ...{ channel: "telegram", account: "main", orgId: owner.orgId, dedupeKey: v7() },
        receivedAt: clock.now(),
        autoApprove: false,
        actions: [{ type: "message", message, isEdit: false }],
      });
      return message.platformMessageId;
    },
    consolidate: () => consolidation.run(),
    consolidation,
    /** What compares values with the help of an embedder. */
    comparison: (of: Embedder | undefined) =>
      new Comparison({
        facts: new FactRepository(),
        keys: new FactKeyRepository(),
        consolidation,
        transactions,
        clock: clock.now,
        embedder: of,
      }),
    /** Facts that wait to be compared. */
    compared: () =>
      transactions.system("operator", async (tx) => {
        const rows = await tx
          .select()
          .from(jobs)
          .where(and(eq(jobs.orgId, owner.orgId), eq(jobs.kind, "facts.compare")))
          .orderBy(jobs.id);
        return rows.map(({ kind, payload }) => ({ kind, ...(JSON.parse(payload) as object) }));
      }),
    rows: (scope: FactScopeName = "user") =>
      transactions.tenant(owner, (tx) => tx.select().from(factTables[scope].table)),
    events: () =>
      transactions.tenant(owner, (tx) => tx.select().from(memoryEvents).orderBy(memoryEvents.id)),
    query: <T extends Record<string, unknown>>(text: string) =>
      transactions.tenant(owner, (tx) => tx.execute<T>(text)),
  };
}

export type Services = Awaited<ReturnType<typeof tenantOf>>;
