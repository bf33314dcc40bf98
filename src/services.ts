import { endSessionsJob } from "./access/jobs.ts";
import { KeyRepository } from "./access/repository.ts";
import { KeyService } from "./access/service.ts";
import { SessionRepository } from "./access/session-repository.ts";
import { Sessions } from "./access/sessions.ts";
import { AuditRepository } from "./audit/repository.ts";
import { AuditService } from "./audit/service.ts";
import { buildChannels, buildForwarding } from "./channel-services.ts";
import { ChatArchive } from "./chat/archive.ts";
import { ArchiveRepository } from "./chat/archive-repository.ts";
import { retentionJob } from "./chat/jobs.ts";
import { MessageRepository } from "./chat/message-repository.ts";
import { PlatformMessageRepository } from "./chat/platform-repository.ts";
import { ChatRepository } from "./chat/repository.ts";
import { Senders } from "./chat/senders.ts";
import { ChatService } from "./chat/service.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/client.ts";
import { maintenanceJob } from "./db/maintenance.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { buildErasures, buildLedger } from "./erasure-services.ts";
import { buildExports } from "./export-services.ts";
import { Comparison } from "./facts/comparison.ts";
import { Consolidation } from "./facts/consolidation.ts";
import { compareJob, consolidateJob, expireJob } from "./facts/jobs.ts";
import { FactKeyRepository } from "./facts/key-repository.ts";
import { FactRepository } from "./facts/repository.ts";
import { FactService } from "./facts/service.ts";
import type { Metrics } from "./http/metrics.ts";
import { forgetAnswersJob } from "./idempotency/jobs.ts";
import { IdempotencyRepository } from "./idempotency/repository.ts";
import { IdempotencyService } from "./idempotency/service.ts";
import { buildImports } from "./import-services.ts";
import type { JobHandler } from "./jobs/handler.ts";
import { pruneJob } from "./jobs/prune.ts";
import { JobQueue } from "./jobs/queue.ts";
import { JobRepository } from "./jobs/repository.ts";
import { KvRepository } from "./kv/repository.ts";
import { KvReview } from "./kv/review.ts";
import { KvService } from "./kv/service.ts";
import { buildLinks } from "./link-services.ts";
import { anthropicExtractor } from "./llm/anthropic.ts";
import { OrgRepository } from "./orgs/repository.ts";
import { OrgService } from "./orgs/service.ts";
import { countJob } from "./overview/jobs.ts";
import { OverviewRepository } from "./overview/repository.ts";
import { OverviewService } from "./overview/service.ts";
import { Candidates } from "./recall/candidates.ts";
import { RecallRepository } from "./recall/repository.ts";
import { Retrieval } from "./recall/retrieval.ts";
import { RecallService } from "./recall/service.ts";
import { buildReview } from "./review-services.ts";
import { RulesRepository } from "./rules/repository.ts";
import { RulesService } from "./rules/service.ts";
import { buildSearch } from "./search-services.ts";
import { buildSending } from "./sending-services.ts";
import { TurnAssignment } from "./turns/assignment.ts";
import { Extraction } from "./turns/extraction.ts";
import { extractionJob } from "./turns/jobs.ts";
import { TurnRepository } from "./turns/repository.ts";
import { TurnService } from "./turns/service.ts";
import { ContextRepository } from "./users/context.ts";
import { People } from "./users/people.ts";
import { PeopleRepository } from "./users/people-repository.ts";
import { UserRepository } from "./users/repository.ts";
import { UserService } from "./users/service.ts";

/** What the services are made of. */
interface ServiceDependencies {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Undefined: nothing is searched by its meaning. */
  readonly embedder: Embedder | undefined;
  /** Told, in a sentence that may be logged, what somebody should know. */
  readonly onNotice: (notice: string, error?: unknown) => void;
  /** Reads a secret's variable that a channel account names. */
  readonly secretOf: (variable: string) => string | undefined;
  /** Lets the runner look for due jobs, by default now. */
  readonly wake: (at?: Date) => void;
  /** How long a message that is forwarded waits for its memory; default a second. */
  readonly memoryWithinMs?: number | undefined;
  /** Waits for milliseconds, less where the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Every domain's services and jobs, each made once. */
export async function buildServices({
  config,
  database,
  clock,
  metrics,
  embedder,
  onNotice,
  secretOf,
  wake,
  memoryWithinMs = 1_000,
  wait,
}: ServiceDependencies) {
  const { transactions } = database;
  const audit = new AuditService(new AuditRepository(), transactions, clock);
  const orgs = new OrgService(new OrgRepository(), audit, transactions, clock);
  const people = new UserRepository();
  const users = new UserService(people, new ContextRepository(), config.DEFAULT_CHANNEL, clock);
  const keys = new KeyService({
    ...{ keys: new KeyRepository(), users, orgs, audit, transactions, clock },
    defaultAgent: config.DEFAULT_AGENT,
  });
  const sessionRows = new SessionRepository();
  const sessions = new Sessions({ sessions: sessionRows, keys, transactions, clock });
  const calls = new IdempotencyRepository();
  const idempotency = new IdempotencyService(calls, clock);
  const ledger = buildLedger(clock);
  const entries = new KvRepository();
  const kv = new KvService(entries, users, transactions, clock);
  const archive = new ChatRepository();
  const factRows = new FactRepository();
  const factKeys = new FactKeyRepository();
  const queue = new JobQueue();
  const search = await buildSearch({ config, embedder, database, queue, clock, metrics, onNotice });
  const { index } = search;
  const consolidation = new Consolidation({
    ...{ keys: factKeys, facts: factRows, index, transactions, clock },
  });
  const statements = {
    facts: factRows,
    keys: factKeys,
    consolidation,
    comparisons: embedder && queue,
  };
  const facts = new FactService({
    ...statements,
    index,
    conversations: archive,
    erasures: ledger,
    ...{ users, orgs, idempotency, transactions, clock },
    orchestrator: config.DEFAULT_AGENT,
  });
  const comparison = new Comparison({
    ...{ facts: factRows, keys: factKeys, consolidation, transactions, clock, embedder },
  });
  const recalls = new RecallRepository();
  const retrieval = new Retrieval(index, search.meaning);
  const recall = new RecallService({
    retrieval,
    candidates: new Candidates(recalls, facts),
    recalls,
    users,
    orgs,
    transactions,
    clock,
    orchestrator: config.DEFAULT_AGENT,
  });
  const channels = buildChannels({
    ...{ config, orgs, users, audit, queue, transactions, clock, secretOf },
  });
  const linking = buildLinks({
    ...{ people, users, orgs, audit, archive, keys: factKeys, consolidation, index, queue },
    ...{ outbox: channels.outbox, transactions, clock, defaultOrg: config.DEFAULT_ORG },
  });
  const reviews = buildReview({
    ...{ facts: factRows, keys: factKeys, consolidation, index, users, orgs, transactions, clock },
    ...{ orchestrator: config.DEFAULT_AGENT, service: facts, audit },
  });
  const { review } = reviews;
  const exporting = buildExports({
    ...{ users, orgs, review, audit, queue, transactions, clock, wake },
  });
  const turnRows = new TurnRepository();
  const assignment = new TurnAssignment({
    turns: turnRows,
    users,
    orgs,
    queue,
    orchestrator: config.DEFAULT_AGENT,
  });
  const intake = {
    chat: archive,
    platform: new PlatformMessageRepository(),
    senders: new Senders(users, linking.links),
    users,
    facts,
    index,
    turns: assignment,
    codes: linking.codeMessages,
    messages: new MessageRepository(),
    outbox: channels.outbox,
    wake,
  };
  const chat = new ChatService({ ...intake, orgs, idempotency, transactions, clock });
  const imports = buildImports({ ...intake, statements, orgs, audit, transactions, clock });
  const sending = buildSending({
    ...{ config, channels: channels.service, chat: archive, users, index, turns: assignment },
    ...{ idempotency, transactions, clock, wait },
  });
  const extractor = await anthropicExtractor({
    apiKey: config.ANTHROPIC_API_KEY,
    baseUrl: config.ANTHROPIC_BASE_URL,
    model: config.EXTRACTION_MODEL,
  });
  const hasExtractor = extractor !== undefined;
  const turns = new TurnService({
    ...{ turns: turnRows, chat, facts, queue, audit, transactions, clock, hasExtractor },
  });
  const extraction = new Extraction({
    turns: turnRows,
    chat,
    users,
    orgs,
    facts,
    extractor,
    dailyLimit: config.EXTRACTION_DAILY_LIMIT,
    transactions,
    clock,
    metrics,
  });
  const forwarding = buildForwarding({
    ...{ channels, chat, users, recall, queue, audit, transactions, clock, metrics, wake },
    memoryWithinMs,
    defaultAgent: config.DEFAULT_AGENT,
  });

  const erasing = buildErasures({
    ...{ database, people, users, orgs, audit, facts, factRows, factKeys },
    ...{ index, queue, clock, wake },
    scrubCron: config.SCRUB_CRON,
  });
  const overviewRows = new OverviewRepository();
  const jobRows = new JobRepository();
  const handlers: readonly JobHandler[] = [
    retentionJob(archive, transactions, clock, config.CHAT_RETENTION_DAYS),
    forgetAnswersJob(calls, transactions, clock),
    endSessionsJob(sessionRows, transactions, clock),
    extractionJob(extraction),
    ...forwarding.handlers,
    consolidateJob(consolidation, config.CONSOLIDATE_CRON),
    expireJob(consolidation),
    compareJob(comparison),
    ...linking.handlers,
    ...sending.handlers,
    ...search.handlers,
    ...erasing.handlers,
    pruneJob(jobRows, transactions, clock, () => handlers),
    countJob(overviewRows, transactions, clock),
    ...(database.kind === "embedded" ? [maintenanceJob(database)] : []),
  ];
  return {
    orgs,
    users,
    people: new People({ people: new PeopleRepository(), users, transactions }),
    audit,
    ...exporting,
    links: linking.links,
    codes: linking.codes,
    approval: linking.approval,
    assertions: linking.assertions,
    keys,
    rules: new RulesService({ rules: new RulesRepository(), orgs, audit, transactions, clock }),
    sessions,
    kv,
    entries: new KvReview({ kv: entries, service: kv, users, transactions, audit }),
    facts,
    ...reviews,
    consolidation,
    overview: new OverviewService({ overview: overviewRows, transactions, clock }),
    recall,
    retrieval,
    meaning: search.meaning,
    embedding: search.embedding,
    chat,
    archive: new ChatArchive({
      ...{ ...intake, archive: new ArchiveRepository(), transactions, clock, audit },
      erasures: ledger,
    }),
    imports,
    turns,
    hasExtractor,
    erasures: erasing.erasures,
    channels: channels.service,
    outbox: channels.outbox,
    deliveries: forwarding.deliveries,
    sending: sending.sending,
    queue,
    jobRows,
    handlers,
  };
}
