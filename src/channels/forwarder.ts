import type { ChatService } from "../chat/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { Counts } from "../jobs/handler.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { Recall } from "../recall/query.ts";
import type { RecallService } from "../recall/service.ts";
import type { UserService } from "../users/service.ts";
import type { Destination } from "./account.ts";
import { MAX_AGE_MS, readRetryAfter, waitAfter } from "./backoff.ts";
import { type EventMemory, eventBody, isPrivate, senderOf, type Told } from "./event.ts";
import { FORWARD_JOB } from "./outbox.ts";
import type { Lease, OutboxRepository } from "./outbox-repository.ts";
import { post } from "./post.ts";
import type { ChannelService } from "./service.ts";
import { isSigningSecret, sign } from "./standard-webhooks.ts";

/** Deliveries that one run makes at a time, of different people. */
const LANES = 32;
/** An org with so many of them gets no more: its receiver may hang, and other orgs have theirs. */
const ORG_LANES = 8;
/** Longer than a delivery may take: reading, a second of recall, fifteen of sending, noting. */
const LEASE_MS = 60_000;
/** While something is being sent, what became due meanwhile is looked for so often. */
const LOOK_MS = 1_000;
/** When the server stops, what is being sent may end: cut off, it would be sent twice. */
const STOP_WITHIN_MS = 2_000;

const UNSIGNED =
  "the account's forward secret is no signing secret: whsec_ and 24 to 64 bytes in base64";

type Outcome = "delivered" | "dropped" | "failed" | "dead";

export interface ForwarderDependencies {
  readonly outbox: OutboxRepository;
  readonly channels: ChannelService;
  readonly chat: ChatService;
  readonly users: UserService;
  readonly recall: RecallService;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly metrics: { forward(outcome: Outcome): void };
  /** From 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** Lets the runner look for due jobs at that time. */
  readonly wake: (at: Date) => void;
  readonly defaultAgent: string;
  /** A message without memory is better than one that waits longer for it. */
  readonly memoryWithinMs: number;
}

/** Delivers what waits in the outbox: each person's in order, different people's side by side. */
export class Forwarder {
  readonly #deps: ForwarderDependencies;

  constructor(deps: ForwarderDependencies) {
    this.#deps = deps;
  }

  /** Runs until nothing is due. Any number of runs, here and in other processes, share the work. */
  async run(signal: AbortSignal): Promise<Counts> {
    const counts = { delivered: 0, dropped: 0, failed: 0, dead: 0 };
    const sending = new Map<Promise<void>, string>();
    const cut = new AbortController();
    const stop = () => setTimeout(() => cut.abort(), STOP_WITHIN_MS).unref();
    signal.addEventListener("abort", stop, { once: true });
    let fault: { readonly error: unknown } | undefined;
    const serve = async (lease: Lease) => {
      try {
        const outcome = await this.#serve(lease, cut.signal);
        if (outcome) counts[outcome]++;
      } catch (error) {
        fault ??= { error };
      }
    };
    // Past what waits of a busy org others are found by reading all of that: after a vain look not before the next one.
    let isLook = true;
    for (;;) {
      const busy = busyOrgs(sending.values());
      const free = signal.aborted || fault ? 0 : Math.min(ORG_LANES, LANES - sending.size);
      const leases: Lease[] =
        free > 0 && (isLook || busy.length === 0) ? await this.#claim(free, busy) : [];
      for (const lease of leases) {
        const served = serve(lease).then(() => void sending.delete(served));
        sending.set(served, lease.orgId);
      }
      if (sending.size === 0) break;
      // Several claims fill the lanes.
      isLook = leases.length > 0 || (await soonest(sending.keys()));
    }
    signal.removeEventListener("abort", stop);
    if (fault) throw fault.error;
    signal.throwIfAborted();
    await this.#requestNext();
    return counts;
  }

  #claim(limit: number, busy: readonly string[]): Promise<Lease[]> {
    const { outbox, transactions, clock } = this.#deps;
    const now = clock();
    const until = new Date(now.getTime() + LEASE_MS);
    return transactions.system("forwarding", (tx) => outbox.claim(limit, { now, until, busy }, tx));
  }

  /** Makes a person's next delivery. @returns undefined when there was none, or it is somebody else's now */
  async #serve(lease: Lease, cut: AbortSignal): Promise<Outcome | undefined> {
    const { outbox, transactions, metrics } = this.#deps;
    const found = await transactions.tenant(lease, (tx) => this.#read(lease, tx));
    if (found === "nothing") return;
    if (found === "dropped") {
      metrics.forward("dropped");
      return "dropped";
    }
    const failure = await this.#send(found, cut);
    if (cut.aborted && failure) {
      // Nobody's fault: the next process begins with it, and the attempt does not count.
      await transactions.tenant(lease, async (tx) => {
        if (await outbox.hold(lease, tx)) await this.#end(lease, 0, tx);
      });
      return;
    }
    const outcome = await transactions.tenant(lease, (tx) => this.#note(lease, found, failure, tx));
    metrics.forward(outcome);
    return outcome;
  }

  /** What the next delivery tells of. One that has nothing to tell any more ends here. */
  async #read(lease: Lease, tx: Tx) {
    const { outbox, channels, chat, users } = this.#deps;
    if (!(await outbox.hold(lease, tx))) return "nothing";
    const delivery = await outbox.head(lease, lease.userId, tx);
    if (!delivery) {
      await this.#end(lease, 0, tx);
      return "nothing";
    }
    const user = await users.profile(lease, lease.userId, tx);
    const isOfMessage = ["message.received", "message.edited"].includes(delivery.event);
    const message = isOfMessage ? await chat.message(lease, delivery.messageId, tx) : undefined;
    if (user?.status !== "approved" || (isOfMessage && !message)) {
      await outbox.remove(lease, delivery.id, tx);
      await this.#end(lease, 0, tx);
      return "dropped";
    }
    const told: Told = { delivery, user, message: message ?? null };
    return { told, destination: await channels.destination(lease, delivery, tx) };
  }

  /** @returns what went wrong */
  async #send(
    { told, destination }: { told: Told; destination: Destination | undefined },
    cut: AbortSignal,
  ): Promise<{ reason: string; askedMs?: number | undefined } | undefined> {
    if (!destination) return { reason: "the account has no forward URL, or its secret is not set" };
    if (!isSigningSecret(destination.secret)) return { reason: UNSIGNED };
    const body = eventBody(told, await this.#memoryFor(told));
    const now = this.#deps.clock();
    const { id } = told.delivery;
    const timestamp = Math.floor(now.getTime() / 1000);
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": sign(destination.secret, { id, timestamp, body }),
    };
    const posted = await post({ ...destination, headers, body, signal: cut });
    if ("fault" in posted) return { reason: posted.fault };
    const { status, retryAfter } = posted;
    if (status >= 200 && status < 300) return undefined;
    const isRedirect = status >= 300 && status < 400;
    return {
      reason: `status ${status}${isRedirect ? ": redirects are not followed" : ""}`,
      askedMs: readRetryAfter(retryAfter, now),
    };
  }

  /** What is remembered of who wrote, for what they wrote; null where there is none to be had soon. */
  async #memoryFor(told: Told): Promise<EventMemory | null> {
    const { message, user } = told;
    if (!message) return null;
    const { recall, defaultAgent, memoryWithinMs } = this.#deps;
    const { orgId, storeId, text } = message;
    const by = { orgId, keyId: FORWARD_JOB, role: "member", defaultAgent, pins: {} } as const;
    const asked = Recall.parse({
      userId: user.id,
      ...(storeId !== null && { storeId }),
      // The beginning is searched for, whatever the length.
      ...(text && { query: text.slice(0, 2000) }),
    });
    const answer = await within(memoryWithinMs, recall.recall(by, asked, message.id));
    if (!answer || answer.disabled) return null;
    const { stableBlock, memoryBlock, etag } = answer;
    const isAlone = isPrivate(message, senderOf(told)?.externalId);
    return { private: !isAlone, userId: user.id, stableBlock, memoryBlock, etag };
  }

  async #note(
    lease: Lease,
    { told: { delivery } }: { told: Told },
    failure: { reason: string; askedMs?: number | undefined } | undefined,
    tx: Tx,
  ): Promise<Outcome> {
    const { outbox, clock, random } = this.#deps;
    const isOurs = await outbox.hold(lease, tx);
    if (!failure) {
      // Also when it took too long and somebody else tries it now: the receiver has it.
      await outbox.remove(lease, delivery.id, tx);
      if (isOurs) await this.#end(lease, 0, tx);
      return "delivered";
    }
    if (!isOurs) return "failed";
    const now = clock();
    const age = now.getTime() - (delivery.triedSince ?? delivery.createdAt).getTime();
    const isDead = age >= MAX_AGE_MS;
    const { reason, askedMs } = failure;
    await outbox.fail(lease, delivery.id, { reason, diedAt: isDead ? now : null }, tx);
    await this.#end(lease, isDead ? 0 : waitAfter(delivery.attempts + 1, askedMs, random()), tx);
    return isDead ? "dead" : "failed";
  }

  /** Under the queue's lock, so that nothing is written into a queue that ends. */
  async #end(lease: Lease, waitMs: number, tx: Tx): Promise<void> {
    const { outbox, clock } = this.#deps;
    if (await outbox.end(lease, lease.userId, tx)) return;
    await outbox.release(lease, lease.userId, new Date(clock().getTime() + waitMs), tx);
  }

  /** A retry, and what a process that is killed would leave, does not wait for the next slot. */
  async #requestNext(): Promise<void> {
    const { outbox, queue, transactions, clock, wake } = this.#deps;
    const next = await transactions.system("forwarding", async (tx) => {
      const found = await outbox.next(tx);
      if (!found) return undefined;
      const { orgId, at: runAt } = found;
      await queue.request({ kind: FORWARD_JOB, orgId, runAt }, clock(), tx);
      return runAt;
    });
    if (next) wake(next);
  }
}

function busyOrgs(sending: Iterable<string>): string[] {
  const lanes = new Map<string, number>();
  for (const orgId of sending) lanes.set(orgId, (lanes.get(orgId) ?? 0) + 1);
  return [...lanes].flatMap(([orgId, count]) => (count >= ORG_LANES ? [orgId] : []));
}

/** The first of them to end, or the next look. @returns whether it is the look */
async function soonest(sending: Iterable<Promise<void>>): Promise<boolean> {
  const look = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => look.resolve(true), LOOK_MS);
  const isLook = await Promise.race([
    ...[...sending].map((one) => one.then(() => false)),
    look.promise,
  ]);
  clearTimeout(timer);
  return isLook;
}

/** The value, or undefined where it fails or takes longer. */
async function within<T>(milliseconds: number, value: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), milliseconds);
  try {
    return await Promise.race([value.catch(() => undefined), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
