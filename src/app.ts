import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { OPERATOR_KEY_ID, type Principal } from "./access/principal.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { Database } from "./db/client.ts";
import type { EmbeddedDatabase } from "./db/embedded/embedded.ts";
import { authentication } from "./http/authentication.ts";
import { loggerOptions } from "./http/log.ts";
import { Metrics } from "./http/metrics.ts";
import { ownHosts } from "./http/own-hosts.ts";
import { RateLimit } from "./http/rate-limit.ts";
import { buildHttp } from "./http/server.ts";
import { linkAssertions } from "./http/v1/assertions.ts";
import { messageRoute } from "./http/v1/messages.ts";
import { v1Routes } from "./http/v1/routes.ts";
import { JobLeases } from "./jobs/leases.ts";
import { JobRunner } from "./jobs/runner.ts";
import { JobService } from "./jobs/service.ts";
import { mountSouvenir } from "./mcp/souvenir.ts";
import { embedderOf } from "./search-services.ts";
import { buildServices } from "./services.ts";
import { Startup, type StartupEvents } from "./startup.ts";
import { telegramWebhook } from "./telegram/webhook.ts";
import { memoryPage } from "./ui/memory-page.ts";
import { VERSION } from "./version.ts";
import { whatsappWebhook } from "./whatsapp/webhook.ts";

/** A minute, for each address that tries keys on the memory page. A key has 256 random bits; this keeps the noise down. */
const SIGN_INS_PER_MINUTE = 20;
/** A minute, over all addresses: an owner key that somebody thought up is not tried from a thousand places at once. */
const WRONG_KEYS_PER_MINUTE = 300;
/** A job that is due later than this is found by a look of the runner soon enough. */
const SOON_MS = 60_000;

export interface AppOptions {
  readonly clock?: Clock;
  /** The embedded database, when the caller has opened it already; default: opened here. */
  readonly embedded?: EmbeddedDatabase | undefined;
  /** Where log lines go; default standard output. */
  readonly logStream?: { write(line: string): void };
  /** false = runs no job but those that a request asks for: a command that is over in a moment. Default true. */
  readonly background?: boolean;
  /** Reads a secret's variable that a channel account names; default: none is set. */
  readonly secretOf?: (variable: string) => string | undefined;
  /** How long a message that is forwarded waits for its memory; default a second. */
  readonly memoryWithinMs?: number;
  /** Waits for milliseconds, less where the signal aborts; default: by the system's timers. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
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

  const embedder = await embedderOf(config);
  let wake = (_at: Date): void => {};
  let notice = (_sentence: string, _error?: unknown): void => {};
  const services = await buildServices({
    config,
    database,
    clock,
    metrics,
    embedder,
    onNotice: (sentence, error) => notice(sentence, error),
    secretOf: options.secretOf ?? (() => undefined),
    wake: (at = clock()) => wake(at),
    memoryWithinMs: options.memoryWithinMs,
    wait: options.wait ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => {})),
  });
  const { orgs, keys, channels, chat, queue } = services;

  let canSend = false;
  const startup = new Startup({
    database,
    orgs,
    keys,
    transactions,
    config,
    prepare: async () => {
      canSend = await channels.canSend();
    },
  });
  const http = buildHttp({
    logger: loggerOptions(config.LOG_LEVEL, options.logStream),
    metrics,
    ready: async () => {
      startup.requireReady();
      await database.ping();
    },
    allowedHosts: config.ALLOWED_HOSTS,
  });

  notice = (sentence, error) =>
    error === undefined ? http.log.warn(sentence) : http.log.error({ err: error }, sentence);

  const runner = new JobRunner({
    queue,
    leases: new JobLeases(),
    transactions,
    clock,
    log: http.log,
    metrics,
    handlers: services.handlers,
  });
  wake = (at) => {
    const waitMs = at.getTime() - clock().getTime();
    if (waitMs <= 0) runner.wake();
    else if (waitMs < SOON_MS) setTimeout(() => runner.wake(), waitMs).unref();
  };
  const jobs = new JobService({
    ...{ jobs: services.jobRows, queue, handlers: services.handlers, runner },
    ...{ audit: services.audit, transactions, clock },
  });

  const owner = async (org: string, keyId: string): Promise<Principal> => {
    startup.requireReady();
    const { id } = await transactions.system("operator", (tx) => orgs.find(org, tx));
    return { orgId: id, keyId, role: "owner", defaultAgent: config.DEFAULT_AGENT, pins: {} };
  };
  const anonymous =
    config.AUTH === "none" ? () => owner(config.DEFAULT_ORG, "anonymous") : undefined;
  const operatorToken = randomBytes(32).toString("base64url");
  const authenticate = authentication({
    authenticate: (key) => {
      startup.requireReady();
      return keys.authenticate(key);
    },
    anonymous,
    operatorToken,
    operator: (org = config.DEFAULT_ORG) => owner(org, OPERATOR_KEY_ID),
  });

  const rateLimit = new RateLimit(config.RATE_LIMIT_PER_MINUTE);
  const charge = async ({ keyId }: { readonly keyId: string }, messages: number) =>
    keyId === OPERATOR_KEY_ID ? undefined : rateLimit.charge(keyId, messages);
  await mountSouvenir(http, {
    version: VERSION,
    services,
    canSend: () => canSend,
    authenticate,
    charge,
    allowedHosts: config.ALLOWED_HOSTS,
    onToolCall: (tool, outcome) => metrics.tool(tool, outcome),
  });
  await http.register(
    v1Routes({
      ...services,
      version: VERSION,
      authenticate,
      jobs,
      charge,
      allowedHosts: config.ALLOWED_HOSTS,
    }),
  );
  await http.register(linkAssertions, {
    assertions: services.assertions,
    secret: config.LINK_SECRET,
    requireReady: () => startup.requireReady(),
    allowedHosts: config.ALLOWED_HOSTS,
    clock,
  });
  await http.register(messageRoute, {
    authenticate,
    signing: (channel, account) => {
      startup.requireReady();
      return channels.signing(channel, account);
    },
    post: (poster, posts) => chat.post(poster, posts),
    charge,
    allowedHosts: config.ALLOWED_HOSTS,
    clock,
  });
  const signIns = new RateLimit(SIGN_INS_PER_MINUTE);
  const wrongKeys = new RateLimit(WRONG_KEYS_PER_MINUTE);
  await http.register(memoryPage, {
    ...services,
    prefix: "/ui",
    anonymous,
    jobs,
    requireReady: () => startup.requireReady(),
    requireOwnHost: ownHosts(config.ALLOWED_HOSTS),
    charge: (principal) => charge(principal, 1),
    signInLimits: {
      attempt: (address) => signIns.charge(address, 1),
      wrong: (count) => wrongKeys.charge("", count),
    },
  });
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

  await http.register(whatsappWebhook, {
    clock,
    accounts: (account) => {
      startup.requireReady();
      return channels.receiving("whatsapp", account);
    },
    archive: ({ account, receivedAt, items }) =>
      chat.archiveAll({ ...account, channel: "whatsapp", receivedAt }, items),
  });

  // With the drain rather than after it: a call that waits for its job ends at once, and both fit into the ten seconds.
  http.addHook("preClose", async () => {
    void runner.stop();
  });
  http.addHook("onClose", async () => {
    startup.stop();
    await runner.stop();
    await embedder?.close();
    await database.close();
  });

  return {
    http,
    database,
    jobs: runner,
    operatorToken,
    start: ({ ready, failed }) =>
      startup.run(http.log, {
        failed,
        ready(ownerKey) {
          if (!services.hasExtractor)
            http.log.info("no ANTHROPIC_API_KEY: nothing is extracted from chats");
          if (!embedder) http.log.info("EMBEDDER=none: recall goes by words alone");
          if (options.background !== false) {
            // Nobody waits for it: until it is there, recall goes by words.
            void services.meaning?.check();
            runner.start();
          }
          ready(ownerKey);
        },
      }),
    close: () => http.close(),
  };
}
