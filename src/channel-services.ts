import type { AuditService } from "./audit/service.ts";
import { Deliveries } from "./channels/deliveries.ts";
import { DeliveryRepository } from "./channels/delivery-repository.ts";
import { Forwarder, type ForwarderDependencies } from "./channels/forwarder.ts";
import { deliveriesJob, forwardJob } from "./channels/jobs.ts";
import { Outbox } from "./channels/outbox.ts";
import { OutboxRepository } from "./channels/outbox-repository.ts";
import { ChannelRepository } from "./channels/repository.ts";
import { ChannelService } from "./channels/service.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Transactions } from "./db/tenant.ts";
import type { JobHandler } from "./jobs/handler.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { OrgService } from "./orgs/service.ts";
import type { UserService } from "./users/service.ts";

interface ChannelDependencies {
  readonly config: Config;
  readonly orgs: OrgService;
  readonly users: UserService;
  readonly audit: AuditService;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly secretOf: (variable: string) => string | undefined;
}

/** The accounts of channels, and what waits to be forwarded from them. */
export function buildChannels(deps: ChannelDependencies) {
  const { config, orgs, users, audit, queue, transactions, clock, secretOf } = deps;
  const service = new ChannelService({
    channels: new ChannelRepository(),
    orgs,
    audit,
    transactions,
    clock,
    main: {
      telegram: {
        secret: config.TELEGRAM_WEBHOOK_SECRET,
        token: config.TELEGRAM_BOT_TOKEN,
        autoApprove: config.TELEGRAM_AUTO_APPROVE,
      },
      whatsapp: {
        secret: config.WHATSAPP_APP_SECRET,
        verifyToken: config.WHATSAPP_VERIFY_TOKEN,
      },
    },
    messagesSecret: config.MESSAGES_SECRET,
    agentWebhook:
      config.AGENT_WEBHOOK_URL && config.AGENT_WEBHOOK_SECRET
        ? {
            url: config.AGENT_WEBHOOK_URL,
            secret: config.AGENT_WEBHOOK_SECRET,
            mayBePrivate: true,
          }
        : undefined,
    defaultOrg: config.DEFAULT_ORG,
    secretOf,
  });
  const rows = new OutboxRepository();
  return {
    service,
    rows,
    outbox: new Outbox({ outbox: rows, channels: service, users, queue, clock }),
  };
}

interface ForwardingDependencies
  extends Omit<ForwarderDependencies, "outbox" | "channels" | "random" | "metrics" | "wake"> {
  readonly channels: ReturnType<typeof buildChannels>;
  readonly audit: AuditService;
  readonly metrics: ForwarderDependencies["metrics"] & { oldestForward(seconds: number): void };
  readonly wake: (at?: Date) => void;
}

/** What delivers it to the agent runtime. */
export function buildForwarding({ channels, audit, ...deps }: ForwardingDependencies) {
  const { transactions, clock, metrics, queue, wake } = deps;
  const rows = new DeliveryRepository();
  const forwarder = new Forwarder({
    ...deps,
    outbox: channels.rows,
    channels: channels.service,
    random: Math.random,
  });
  const handlers: readonly JobHandler[] = [
    forwardJob(forwarder),
    deliveriesJob(rows, transactions, clock, metrics),
  ];
  const deliveries = new Deliveries({ deliveries: rows, queue, audit, transactions, clock, wake });
  return { handlers, deliveries };
}
