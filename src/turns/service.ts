import { z } from "zod";
import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { ChatService } from "../chat/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { FactDraft } from "../facts/fact.ts";
import type { FactService } from "../facts/service.ts";
import { Instant } from "../instant.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { readPlace } from "../page.ts";
import { isUuid } from "../uuid.ts";
import { type Arm, compareArms } from "./comparison.ts";
import type { TurnPoint, TurnRepository, TurnRow } from "./repository.ts";
import { EXTRACT_JOB, sourceIdOf, TURN_STATES } from "./turn.ts";

const DAY_MS = 86_400_000;
const COMPARED_DAYS = 90;
/** The newest ones: what they say does not get clearer with more, and counting them takes a twentieth of a second. */
const COMPARED_TURNS = 50_000;
const MAX_CORRECTIONS = 50;
/** Queued again in one transaction. */
const BATCH = 200;
/** A turn that waits for its extraction once more. */
const AGAIN = { state: "closed", reason: null } as const;

const CURSOR = /^(\d{1,16})_([0-9a-f-]{36})$/;

/** Query of `GET /v1/turns`; numbers come as text. */
export const TurnQuery = z.strictObject({
  /** Default: those that need somebody. */
  state: z.enum(TURN_STATES).default("dead"),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** `nextBefore` of the page before. */
  before: z
    .string()
    .transform((cursor, context): TurnPoint => {
      const [, openedAt, id] = CURSOR.exec(cursor) ?? [];
      const place = readPlace(openedAt, id);
      if (place) return { openedAt: place.at, id: place.id };
      context.addIssue({ code: "custom", message: "not a cursor of this list" });
      return z.NEVER;
    })
    .optional(),
});
export type TurnQuery = z.output<typeof TurnQuery>;

export const ComparisonQuery = z.strictObject({ since: Instant.optional() });
export const UsageQuery = z.strictObject({
  days: z.coerce.number().int().min(1).max(366).default(31),
});

/** What a person makes of a pending correction. */
export const CorrectionFact = FactDraft.pick({ key: true, value: true, tier: true });
export type CorrectionFact = z.output<typeof CorrectionFact>;

/** What people correct is believed: an extractor would say so much of it too. */
const CORRECTED_CONFIDENCE = 0.9;

/** A turn as an operator sees it: ids and counts, no texts. */
export type TurnRecord = Omit<TurnRow, "orgId" | "dropped"> & {
  readonly dropped: Readonly<Record<string, number>>;
};

/** A correction that nothing was learned from, with what was said. */
export interface PendingCorrection {
  readonly turn: TurnRecord;
  /** What the assistant had said before; null where that is not in the archive any more. */
  readonly corrects: string | null;
  /** Oldest first. */
  readonly messages: readonly {
    readonly id: string;
    readonly direction: "inbound" | "outbound";
    readonly text: string | null;
    readonly sentAt: string;
  }[];
}

interface TurnServices {
  readonly turns: TurnRepository;
  readonly chat: ChatService;
  readonly facts: FactService;
  readonly queue: JobQueue;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly hasExtractor: boolean;
}

/** What an org's admins see of turns and decide about them. */
export class TurnService {
  readonly #deps: TurnServices;

  constructor(deps: TurnServices) {
    this.#deps = deps;
  }

  /** Turns in one state, newest first. */
  list(
    by: Principal,
    { state, limit, before }: TurnQuery,
  ): Promise<{ turns: TurnRecord[]; nextBefore: string | null }> {
    requireAdmin(by);
    return this.#deps.transactions.tenant(by, async (tx) => {
      const rows = await this.#deps.turns.list(by, { state, before, limit: limit + 1 }, tx);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const nextBefore =
        rows.length > limit && last ? `${last.openedAt.getTime()}_${last.id}` : null;
      return { turns: page.map(recordOf), nextBefore };
    });
  }

  /** The newest corrections that wait for a person: there was no extractor, or it gave up. */
  pendingCorrections(by: Principal): Promise<PendingCorrection[]> {
    requireAdmin(by);
    const { turns, transactions } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const rows = await turns.corrections(by, MAX_CORRECTIONS, tx);
      const pending: PendingCorrection[] = [];
      for (const turn of rows) pending.push(await this.#correction(by, turn, tx));
      return pending;
    });
  }

  /** Lays a pending correction aside. @throws AppError NOT_FOUND for anything else */
  async dismiss(by: Principal, turnId: string): Promise<void> {
    requireAdmin(by);
    const { turns, transactions } = this.#deps;
    await transactions.tenant(by, async (tx) => {
      const turn = await this.#lockPending(by, turnId, tx);
      await turns.update(by, turn.id, { state: "skipped", reason: "dismissed" }, tx);
      await this.#record(by, "turn.dismissed", turn.id, tx);
    });
  }

  /**
   * Remembers what a pending correction says, as a fact of its person with that message as its source.
   *
   * @throws AppError NOT_FOUND for anything else, and where no words of the person are left; CONFLICT where the message
   *   has stated another value under this key; INVALID_INPUT for a watch key that cannot be
   */
  async remember(by: Principal, turnId: string, fact: CorrectionFact): Promise<void> {
    requireAdmin(by);
    const { turns, chat, facts, transactions, clock } = this.#deps;
    await transactions.tenant(by, async (tx) => {
      const turn = await this.#lockPending(by, turnId, tx);
      const { messages } = await chat.ofTurn(by, turn.id, tx);
      const said = messages.findLast(({ direction, text }) => direction === "inbound" && text);
      if (!said) throw noPendingCorrection();
      const { id: _, ...place } = turn;
      const source = {
        ...{ ...place, identityId: said.identityId, sourceMessageId: sourceIdOf(said) },
        ...{ observedAt: said.sentAt, writtenBy: by.keyId },
        sourceReason: "user-correction" as const,
      };
      const draft = { ...fact, confidence: CORRECTED_CONFIDENCE };
      const { dropped } = await facts.learn(source, [{ scope: "user", draft }], tx);
      if (dropped["second-value"]) {
        throw new AppError("CONFLICT", "this message has stated another value under this key");
      }
      if (dropped.watch) throw new AppError("INVALID_INPUT", "key: watch.<site>.<topic>");
      const changes = {
        state: "extracted",
        reason: null,
        extractedAt: clock(),
        factCount: 1,
      } as const;
      await turns.update(by, turn.id, changes, tx);
      await this.#record(by, "turn.remembered", turn.id, tx);
    });
  }

  async #lockPending(by: Principal, turnId: string, tx: Tx): Promise<TurnRow> {
    const turn = isUuid(turnId) ? await this.#deps.turns.lock(by, turnId, tx) : undefined;
    if (turn?.isCorrection && isStuck(turn)) return turn;
    throw noPendingCorrection();
  }

  /**
   * Queues a turn again that the extractor gave up, or that there was none for.
   *
   * @throws AppError NOT_FOUND; CONFLICT for a turn in another state, and without an extractor
   */
  retry(by: Principal, turnId: string): Promise<TurnRecord> {
    requireAdmin(by);
    const { turns, transactions } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const turn = isUuid(turnId) ? await turns.lock(by, turnId, tx) : undefined;
      if (!turn) throw new AppError("NOT_FOUND", "no turn has this id");
      if (!isStuck(turn))
        throw new AppError("CONFLICT", `the turn is ${turn.state}: nothing to try again`);
      this.#requireExtractor();
      await this.#queueAgain(by, turnId, tx);
      await this.#record(by, "turn.retried", turnId, tx);
      return recordOf({ ...turn, ...AGAIN });
    });
  }

  /** The same for every turn that the extractor gave up. @returns how many; @throws AppError CONFLICT without one */
  async retryAll(by: Principal): Promise<{ retried: number }> {
    requireAdmin(by);
    const { turns, audit, transactions } = this.#deps;
    this.#requireExtractor();
    let retried = 0;
    for (;;) {
      const count = await transactions.tenant(by, async (tx) => {
        const dead = await turns.lockDead(by, BATCH, tx);
        for (const turnId of dead) await this.#queueAgain(by, turnId, tx);
        if (dead.length === 0) return 0;
        const event = { actor: by.keyId, action: "turn.retried_all", reason: null };
        const subject = { subjectKind: "org", subjectId: by.orgId } as const;
        await audit.record(by, { ...event, ...subject, details: { count: dead.length } }, tx);
        return dead.length;
      });
      retried += count;
      if (count === 0) return { retried };
    }
  }

  /** The arms with and without memory, side by side; by default of the last 90 days. */
  compare(
    by: Principal,
    { since }: { since?: Date | undefined },
  ): Promise<{ since: string; arms: { on: Arm; off: Arm } }> {
    requireAdmin(by);
    const { turns, transactions, clock } = this.#deps;
    const from = since ?? new Date(clock().getTime() - COMPARED_DAYS * DAY_MS);
    return transactions.tenant(by, async (tx) => {
      const compared = { since: from, limit: COMPARED_TURNS };
      const { since, arms } = await turns.arms(by, compared, tx);
      return { since: since.toISOString(), arms: compareArms(arms) };
    });
  }

  /** What extraction took, by day (UTC), newest first. */
  usage(by: Principal, days: number) {
    requireAdmin(by);
    const { turns, transactions } = this.#deps;
    return transactions.tenant(by, (tx) => turns.usage(by, days, tx));
  }

  #requireExtractor(): void {
    if (this.#deps.hasExtractor) return;
    throw new AppError("CONFLICT", "there is no extractor", {
      hint: "Set ANTHROPIC_API_KEY and restart.",
    });
  }

  async #queueAgain({ orgId }: Principal, turnId: string, tx: Tx): Promise<void> {
    const { turns, queue, clock } = this.#deps;
    const now = clock();
    await turns.update({ orgId }, turnId, AGAIN, tx);
    const dedupeKey = `${turnId} again ${now.getTime()}`;
    const job = { kind: EXTRACT_JOB, dedupeKey, orgId, payload: { turnId }, runAt: now };
    await queue.enqueue(job, now, tx);
  }

  #record(by: Principal, action: string, turnId: string, tx: Tx): Promise<void> {
    const subject = { subjectKind: "turn", subjectId: turnId } as const;
    return this.#deps.audit.record(by, { actor: by.keyId, action, ...subject, reason: null }, tx);
  }

  async #correction(by: Principal, turn: TurnRow, tx: Tx): Promise<PendingCorrection> {
    const { chat } = this.#deps;
    const { messages } = await chat.ofTurn(by, turn.id, tx);
    const first = messages.find(({ direction }) => direction === "inbound");
    const answer = first && (await chat.correctedBy(by, turn, first.sentAt, tx));
    return {
      turn: recordOf(turn),
      corrects: answer?.text ?? null,
      messages: messages.map(({ id, direction, text, sentAt }) => ({
        id,
        direction,
        text,
        sentAt: sentAt.toISOString(),
      })),
    };
  }
}

function noPendingCorrection(): AppError {
  return new AppError("NOT_FOUND", "no pending correction has this id");
}

/** Nothing will happen to it by itself. */
function isStuck({ state, reason }: TurnRow): boolean {
  return state === "dead" || reason === "extraction-off";
}

function recordOf({ orgId: _, dropped, ...turn }: TurnRow): TurnRecord {
  return { ...turn, dropped: JSON.parse(dropped ?? "{}") as Record<string, number> };
}
