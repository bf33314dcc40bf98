import { KeyRepository } from "../src/access/repository.ts";
import { KeyService } from "../src/access/service.ts";
import { ChatRepository } from "../src/chat/repository.ts";
import { ChatService } from "../src/chat/service.ts";
import type { Clock } from "../src/clock.ts";
import { Database } from "../src/db/client.ts";
import { Consolidation } from "../src/facts/consolidation.ts";
import { FactKeyRepository } from "../src/facts/key-repository.ts";
import { FactRepository } from "../src/facts/repository.ts";
import { FactService } from "../src/facts/service.ts";
import { IdempotencyRepository } from "../src/idempotency/repository.ts";
import { IdempotencyService } from "../src/idempotency/service.ts";
import { JobQueue } from "../src/jobs/queue.ts";
import { KvRepository } from "../src/kv/repository.ts";
import { KvService } from "../src/kv/service.ts";
import { OrgRepository } from "../src/orgs/repository.ts";
import { OrgService } from "../src/orgs/service.ts";
import { RecallRepository } from "../src/recall/repository.ts";
import { RecallService } from "../src/recall/service.ts";
import { TurnAssignment } from "../src/turns/assignment.ts";
import { TurnRepository } from "../src/turns/repository.ts";
import { ContextRepository } from "../src/users/context.ts";
import { UserRepository } from "../src/users/repository.ts";
import { UserService } from "../src/users/service.ts";
import type { DatabaseEnv } from "./databases.ts";

const AGENT = "atlas";

export type Services = Awaited<ReturnType<typeof openServices>>;

/**
 * The services as the server wires them, over a migrated database, for benchmarks that go below HTTP or need a tool
 * that the server does not have.
 */
export async function openServices(
  { DATABASE_URL: url, DATA_DIR: dataDir = "" }: DatabaseEnv,
  clock: Clock = () => new Date(),
) {
  const database = await Database.open({ url, dataDir });
  await database.prepare();
  const { transactions } = database;
  const orgs = new OrgService(new OrgRepository(), transactions, clock);
  const users = new UserService(new UserRepository(), new ContextRepository(), "telegram", clock);
  const idempotency = new IdempotencyService(new IdempotencyRepository(), clock);
  const shared = { orgs, users, transactions, clock, orchestrator: AGENT };
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
  return {
    database,
    orgs,
    users,
    facts,
    consolidation,
    keys: new KeyService({ ...shared, keys: new KeyRepository(), defaultAgent: AGENT }),
    kv: new KvService(new KvRepository(), users, transactions, clock),
    recall: new RecallService({ ...shared, facts, recalls: new RecallRepository() }),
    chat: new ChatService({
      ...shared,
      chat: new ChatRepository(),
      facts,
      turns: new TurnAssignment({ ...shared, turns: new TurnRepository(), queue: new JobQueue() }),
      idempotency,
      autoApprove: false,
    }),
  };
}
