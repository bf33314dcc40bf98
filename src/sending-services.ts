import { unfinishedJob } from "./chat/jobs.ts";
import { Sending, type SendingDependencies } from "./chat/sending.ts";
import { SendingRepository } from "./chat/sending-repository.ts";
import type { Config } from "./config.ts";
import { TelegramSender } from "./telegram/outbound.ts";

interface SendingParts extends Omit<SendingDependencies, "sending" | "senders"> {
  readonly config: Config;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** What sends messages on channels. */
export function buildSending({ config, wait, ...deps }: SendingParts) {
  const rows = new SendingRepository();
  const telegram = new TelegramSender({ apiRoot: config.TELEGRAM_API_ROOT, wait });
  return {
    sending: new Sending({ ...deps, sending: rows, senders: { telegram } }),
    handlers: [unfinishedJob(rows, deps.transactions, deps.clock)],
  };
}
