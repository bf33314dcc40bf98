import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { OPERATOR_KEY_ID, type Principal } from "./access/principal.ts";
import { KeyRepository } from "./access/repository.ts";
import { KeyService } from "./access/service.ts";
import { ChannelRepository } from "./channels/repository.ts";
import { ChannelService } from "./channels/service.ts";
import { retentionJob } from "./chat/jobs.ts";
import { ChatRepository } from "./chat/repository.ts";
import { ChatService } from "./chat/service.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { Database } from "./db/client.ts";
import type { EmbeddedDatabase } from "./db/embedded/embedded.ts";
import { maintenanceJob } from "./db/maintenance.ts";
import { FactRepository } from "./facts/repository.ts";
import { FactService } from "./facts/service.ts";
import { authentication } from "./http/authentication.ts";
import { loggerOptions } from "./http/log.ts";
import { Metrics } from "./http/metrics.ts";
import { RateLimit } from "./http/rate-limit.ts";
import { buildHttp } from "./http/server.ts";
import { v1Routes } from "./http/v1/routes.ts";
import { forgetAnswersJob } from "./idempotency/jobs.ts";
import { IdempotencyRepository } from "./idempotency/repository.ts";
import { IdempotencyService } from "./idempotency/service.ts";
import { JobQueue } from "./jobs/queue.ts";
import { JobRunner } from "./jobs/runner.ts";
import { KvRepository } from "./kv/repository.ts";
import { KvService } from "./kv/service.ts";
import { mountSouvenir } from "./mcp/souvenir.ts";
import { OrgRepository } from "./orgs/repository.ts";
import { OrgService } from "./orgs/service.ts";
import { RecallRepository } from "./recall/repository.ts";
import { RecallService } from "./recall/service.ts";
import { Startup, type StartupEvents } from "./startup.ts";
import { telegramWebhook } from "./telegram/webhook.ts";
import { ContextRepository } from "./users/context.ts";
import { UserRepository } from "./users/repository.ts";
import { UserService } from "./users/service.ts";
import { VERSION } from "./version.ts";

export interface AppOptions {
  readonly clock?: Clock;
  /** The embedded database, when the caller has opened it already; default: opened here. */
  readonly embedded?: EmbeddedDatabase | undefined;
  /** Where log lines go; default standard output. */
  readonly logStream?: { write(line: string): void };
  /** Reads a secret's variable that a channel account names; default: none is set. */
  readonly secretOf?: (variable: string) => string | undefined;
}

export interface App {
  readonly http: FastifyInstance;
  readonly database: Database;
  readonly jobs: JobRunner;
  /** Accepted by `/v1` and `/mcp` as the owner of any org; the command line reads it from the data directory. */
  readonly operatorToken: string;
  /**
   * Migrates the database and makes the default org and its first owner key. While PostgreSQL cannot be reached it
   * resolves all the same and goes on trying; requests are answered UNAVAILABLE until `ready` is told.
   */
  start(events: StartupEvents): Promise<void>;
  close(): Promise<void>;
}

/** Builds everything by hand and listens to nothing: main.ts and the tests do. */
export async function buildApp(config: Config, options: AppOptions = {}): Promise<App> {
  const clock = options.clock ?? (() => new Date());
  const database = await Database.open({
    url: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    embedded: options.embedded,
  });
  const { transactions } = database;
  const metrics = new Metrics();

  const orgs = new OrgService(new OrgRepository(), transactions, clock);
  const users = new UserService(
    new UserRepository(),
    new ContextRepository(),
    config.DEFAULT_CHANNEL,
    clock,
  );
  const keys = new KeyService({
    keys: new KeyRepository(),
    users,
    orgs,
    transactions,
    clock,
    defaultAgent: config.DEFAULT_AGENT,
  });
  const calls = new IdempotencyRepository();
  const idempotency = new IdempotencyService(calls, clock);
  const kv = new KvService(new KvRepository(), users, transactions, clock);
  const facts = new FactService({
    facts: new FactRepository(),
    users,
    orgs,
    idempotency,
    transactions,
    clock,
    orchestrator: config.DEFAULT_AGENT,
  });
  const recall = new RecallService({
    recalls: new RecallRepository(),
    users,
    orgs,
    transactions,
    clock,
    orchestrator: config.DEFAULT_AGENT,
  });
  const archive = new ChatRepository();
  const chat = new ChatService({
    chat: archive,
    users,
    orgs,
    facts,
    idempotency,
    transactions,
    clock,
    autoApprove: config.TELEGRAM_AUTO_APPROVE,
  });
  const channels = new ChannelService({
    channels: new ChannelRepository(),
    orgs,
    transactions,
    clock,
    mainSecrets: { telegram: config.TELEGRAM_WEBHOOK_SECRET },
    defaultOrg: config.DEFAULT_ORG,
    secretOf: options.secretOf ?? (() => undefined),
  });

  const startup = new Startup({ database, orgs, keys, transactions, config });
  const http = buildHttp({
    logger: loggerOptions(config.LOG_LEVEL, options.logStream),
    metrics,
    ready: async () => {
      startup.requireReady();
      await database.ping();
    },
  });

  const owner = async (org: string, keyId: string): Promise<Principal> => {
    startup.requireReady();
    const { id } = await transactions.system("operator", (tx) => orgs.find(org, tx));
    return { orgId: id, keyId, role: "owner", defaultAgent: config.DEFAULT_AGENT, pins: {} };
  };
  const operatorToken = randomBytes(32).toString("base64url");
  const authenticate = authentication({
    authenticate: (key) => {
      startup.requireReady();
      return keys.authenticate(key);
    },
    anonymous: config.AUTH === "none" ? () => owner(config.DEFAULT_ORG, "anonymous") : undefined,
    operatorToken,
    operator: (org = config.DEFAULT_ORG) => owner(org, OPERATOR_KEY_ID),
  });

  const rateLimit = new RateLimit(config.RATE_LIMIT_PER_MINUTE);
  const charge = async (principal: Principal, messages: number) =>
    principal.keyId === OPERATOR_KEY_ID ? undefined : rateLimit.charge(principal.keyId, messages);
  await mountSouvenir(http, {
    version: VERSION,
    services: { kv, chat, facts, recall },
    authenticate,
    charge,
    allowedHosts: config.ALLOWED_HOSTS,
    onToolCall: (tool, outcome) => metrics.tool(tool, outcome),
  });
  await http.register(
    v1Routes({
      authenticate,
      keys,
      orgs,
      channels,
      charge,
      allowedHosts: config.ALLOWED_HOSTS,
    }),
  );
  await http.register(telegramWebhook, {
    clock,
    accounts: (account) => {
      startup.requireReady();
      return channels.receiving("telegram", account);
    },
    archive: ({ account, receivedAt, update }) =>
      chat.archive({
        ...account,
        channel: "telegram",
        receivedAt,
        dedupeKey: update.dedupeKey,
        actions: update.actions,
      }),
  });

  const jobs = new JobRunner({
    queue: new JobQueue(),
    transactions,
    clock,
    log: http.log,
    handlers: [
      retentionJob(archive, transactions, clock, config.CHAT_RETENTION_DAYS),
      forgetAnswersJob(calls, transactions, clock),
      ...(database.kind === "embedded" ? [maintenanceJob(database)] : []),
    ],
  });
  http.addHook("onClose", async () => {
    startup.stop();
    await jobs.stop();
    await database.close();
  });

  return {
    http,
    database,
    jobs,
    operatorToken,
    start: ({ ready, failed }) =>
      startup.run(http.log, {
        failed,
        ready(ownerKey) {
          jobs.start();
          ready(ownerKey);
        },
      }),
    close: () => http.close(),
  };
}
