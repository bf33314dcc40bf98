import { v7 } from "uuid";
import type { Principal } from "../../src/access/principal.ts";
import { ChatRepository } from "../../src/chat/repository.ts";
import { Database } from "../../src/db/client.ts";
import { factTables, memoryEvents } from "../../src/db/schema/facts.ts";
import { Consolidation } from "../../src/facts/consolidation.ts";
import type { FactScopeName } from "../../src/facts/fact.ts";
import { FactKeyRepository } from "../../src/facts/key-repository.ts";
import { Remember } from "../../src/facts/remember.ts";
import { FactRepository } from "../../src/facts/repository.ts";
import { FactReview } from "../../src/facts/review.ts";
import { ReviewRepository } from "../../src/facts/review-repository.ts";
import { FactService } from "../../src/facts/service.ts";
import { IdempotencyRepository } from "../../src/idempotency/repository.ts";
import { IdempotencyService } from "../../src/idempotency/service.ts";
import { OrgRepository } from "../../src/orgs/repository.ts";
import { OrgService } from "../../src/orgs/service.ts";
import { Recall } from "../../src/recall/query.ts";
import { RecallRepository } from "../../src/recall/repository.ts";
import { RecallService } from "../../src/recall/service.ts";
import { ContextRepository } from "../../src/users/context.ts";
import { UserRepository } from "../../src/users/repository.ts";
import { UserService } from "../../src/users/service.ts";
import { TestClock } from "../support/clock.ts";
import { createDatabase, type Engine } from "../support/database.ts";

/** A database of a test file's own, in which every test gets orgs of its own. */
export async function openServices(engine: Engine) {
  const created = await createDatabase(engine);
  const database = await Database.open({
    url: created.env.DATABASE_URL,
    dataDir: created.env.DATA_DIR ?? "",
  });
  return {
    fresh: () => tenantOf(database),
    async close() {
      await database.close();
      await created.dispose();
    },
  };
}

/** Facts and recall of a new org, beside another new one, with a clock that is moved by hand. */
async function tenantOf({ transactions }: Database) {
  const clock = new TestClock();
  const orgs = new OrgService(new OrgRepository(), transactions, clock.now);
  const users = new UserService(
    new UserRepository(),
    new ContextRepository(),
    "telegram",
    clock.now,
  );
  const shared = { users, orgs, transactions, clock: clock.now, orchestrator: "atlas" };
  const idempotency = new IdempotencyService(new IdempotencyRepository(), clock.now);
  const factParts = { facts: new FactRepository(), keys: new FactKeyRepository() };
  const consolidation = new Consolidation({ ...shared, ...factParts });
  const conversations = new ChatRepository();
  const facts = new FactService({
    ...shared,
    ...factParts,
    consolidation,
    conversations,
    idempotency,
  });
  const review = new FactReview({
    ...shared,
    ...factParts,
    consolidation,
    review: new ReviewRepository(),
  });
  const recalls = new RecallService({ ...shared, facts, recalls: new RecallRepository() });
  const principal = async (): Promise<Principal> => {
    const org = await transactions.system("operator", (tx) => orgs.ensure(`org-${v7()}`, tx));
    return { orgId: org.id, keyId: "key-1", role: "owner", defaultAgent: "atlas", pins: {} };
  };
  const owner = await principal();
  return {
    clock,
    facts,
    review,
    orgs,
    owner,
    stranger: await principal(),
    transactions,
    users,
    /** Remembers a user fact of one person unless told otherwise. */
    remember: (input: Readonly<Record<string, unknown>>, by: Principal = owner) =>
      facts.remember(
        by,
        Remember.parse({
          ...(!("scope" in input) && { scope: "user", userId: "5000000001" }),
          ...input,
        }),
      ),
    /** Recalls what is known of the same person unless told otherwise. */
    recall: (input: Readonly<Record<string, unknown>> = {}, by: Principal = owner) =>
      recalls.recall(by, Recall.parse({ userId: "5000000001", ...input })),
    consolidate: () => consolidation.run(),
    consolidation,
    rows: (scope: FactScopeName = "user") =>
      transactions.tenant(owner, (tx) => tx.select().from(factTables[scope].table)),
    events: () =>
      transactions.tenant(owner, (tx) => tx.select().from(memoryEvents).orderBy(memoryEvents.id)),
    query: <T extends Record<string, unknown>>(text: string) =>
      transactions.tenant(owner, (tx) => tx.execute<T>(text)),
  };
}

export type Services = Awaited<ReturnType<typeof tenantOf>>;
