import type { Tx } from "../db/tenant.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import type { TurnRepository, TurnRow } from "./repository.ts";
import {
  type Conversation,
  closedAs,
  EXTRACT_JOB,
  NOWHERE,
  type Placed,
  TURN_IDLE_MS,
} from "./turn.ts";

interface Scope {
  readonly orgId: string;
}

/** A person's message as its turn needs to know it. */
interface Arrival extends Conversation {
  readonly userId: string;
  readonly storeId: string | null;
  readonly sentAt: Date;
  readonly receivedAt: Date;
  readonly optsOut: boolean;
  readonly isCorrection: boolean;
}

/** What was said on our side. `userId` is null where the channel does not say to whom, e.g. in groups. */
interface Answer extends Conversation {
  readonly userId: string | null;
  readonly sentAt: Date;
  readonly receivedAt: Date;
}

/** A turn that is archived whole. */
interface WholeTurn extends Omit<Arrival, "receivedAt"> {
  readonly agentId: string;
  readonly archivedAt: Date;
  readonly thumb: "up" | "down" | null;
  readonly regenerated: boolean;
}

interface AssignmentDependencies {
  readonly turns: TurnRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly queue: JobQueue;
  /** The agent that turns of channels belong to. */
  readonly orchestrator: string;
}

/** Puts messages into turns as they are archived, in the archive's transaction, and queues what is to be learned from. */
export class TurnAssignment {
  readonly #deps: AssignmentDependencies;

  constructor(deps: AssignmentDependencies) {
    this.#deps = deps;
  }

  /** Joins the person's open turn of the conversation or begins one. Nowhere for people who are not approved. */
  async arrived(scope: Scope, message: Arrival, tx: Tx): Promise<Placed> {
    const { turns, users } = this.#deps;
    const { userId, receivedAt } = message;
    const standing = await users.standing(scope, userId, tx);
    if (standing?.status !== "approved") return NOWHERE;
    // A platform's clock may run ahead; a turn must not wait for it.
    const at = earlier(message.sentAt, receivedAt);
    const turn = await this.#openTurn(scope, message, at, tx);
    const reason = message.optsOut || turn.reason === "opted-out" ? "opted-out" : null;
    await turns.update(
      scope,
      turn.id,
      {
        lastMessageAt: later(at, turn.lastMessageAt),
        isCorrection: turn.isCorrection || message.isCorrection,
        reason,
      },
      tx,
    );
    return { turnId: turn.id, optedOut: reason !== null };
  }

  /**
   * Closes what it answers. Belongs to the newest turn, also if that closed before: an answer may come in parts, or late,
   * and may repeat what the person asked to leave out.
   */
  async answered(scope: Scope, answer: Answer, tx: Tx): Promise<Placed> {
    const { turns } = this.#deps;
    const { userId, sentAt, receivedAt } = answer;
    const open = await turns.lockOpen(scope, answer, userId ?? undefined, tx);
    // One that was sent before the person wrote answers something else.
    const closing = open.filter(({ openedAt }) => openedAt <= sentAt);
    for (const turn of closing) await this.#close(scope, turn, receivedAt, tx);
    const [newest] = closing;
    const turn =
      newest ?? (userId === null ? undefined : await turns.lockNewest(scope, answer, userId, tx));
    if (!turn || turn.openedAt > sentAt) return NOWHERE;
    const optedOut = [turn, ...closing].some(({ reason }) => reason === "opted-out");
    return { turnId: turn.id, optedOut };
  }

  /** A turn that is over as it arrives. Nowhere for people who are not approved. */
  async whole(scope: Scope, turn: WholeTurn, tx: Tx): Promise<Placed> {
    const { turns, users, orgs } = this.#deps;
    const { optsOut, sentAt, archivedAt, ...columns } = turn;
    const standing = await users.standing(scope, turn.userId, tx);
    if (standing?.status !== "approved") return { turnId: null, optedOut: optsOut };
    const arm = await orgs.memoryFor(scope, turn.userId, tx);
    const closed = closedAs({ arm, reason: optsOut ? "opted-out" : null });
    const row = await turns.insert(
      scope,
      { ...columns, ...closed, arm, openedAt: sentAt, lastMessageAt: sentAt, closedAt: archivedAt },
      tx,
    );
    if (!row) throw new Error("insert returned no row");
    if (closed.state === "closed")
      await this.#enqueue(scope, row.id, row.id, archivedAt, archivedAt, tx);
    return { turnId: row.id, optedOut: optsOut };
  }

  /**
   * A message of the turn has another text. What was learned from the turn is learned again, unless `learn` is false or its
   * person is not approved any more; what is to be learned still reads the new text anyway.
   */
  async edited(
    scope: Scope,
    edit: { turnId: string; source: string; optsOut: boolean; learn: boolean; at: Date },
    tx: Tx,
  ): Promise<void> {
    const { turns, users } = this.#deps;
    const { turnId, source, optsOut, learn, at } = edit;
    const turn = await turns.lock(scope, turnId, tx);
    if (!turn || turn.reason === "opted-out") return;
    if (optsOut) {
      const state = turn.state === "open" ? "open" : "skipped";
      await turns.update(scope, turnId, { state, reason: "opted-out" }, tx);
    } else if (
      learn &&
      (await users.standing(scope, turn.userId, tx))?.status === "approved" &&
      (turn.state === "extracted" || turn.state === "dead" || turn.reason === "nothing-said")
    ) {
      await turns.update(scope, turnId, { state: "closed", reason: null }, tx);
      await this.#enqueue(scope, turnId, `${turnId} ${source}`, at, at, tx);
    }
  }

  /** Makes an extraction that runs now wait with its result, which it then finds to be of a text that is gone. */
  async deleted(scope: Scope, turnIds: readonly string[], tx: Tx): Promise<void> {
    if (turnIds.length > 0) await this.#deps.turns.lockAll(scope, turnIds, tx);
  }

  async #openTurn(scope: Scope, message: Arrival, at: Date, tx: Tx): Promise<TurnRow> {
    const { turns, orgs, orchestrator } = this.#deps;
    const { userId, storeId, channel, account, conversationId, receivedAt } = message;
    for (;;) {
      const [open] = await turns.lockOpen(scope, message, userId, tx);
      if (open && at.getTime() - open.lastMessageAt.getTime() <= TURN_IDLE_MS) return open;
      if (open) await this.#close(scope, open, receivedAt, tx);
      const arm = await orgs.memoryFor(scope, userId, tx);
      const row = await turns.insert(
        scope,
        {
          userId,
          storeId,
          channel,
          account,
          conversationId,
          arm,
          agentId: orchestrator,
          state: "open",
          openedAt: at,
          lastMessageAt: at,
        },
        tx,
      );
      if (row) {
        const closesAt = new Date(receivedAt.getTime() + TURN_IDLE_MS);
        await this.#enqueue(scope, row.id, row.id, closesAt, receivedAt, tx);
        return row;
      }
      // Another message of the same moment was faster: its turn is there once its transaction ended.
    }
  }

  async #close(scope: Scope, turn: TurnRow, at: Date, tx: Tx): Promise<void> {
    const { turns, queue } = this.#deps;
    await turns.update(scope, turn.id, { ...closedAs(turn), closedAt: at }, tx);
    // It was queued for the end of the silence.
    await queue.hasten({ kind: EXTRACT_JOB, dedupeKey: turn.id, orgId: scope.orgId }, at, tx);
  }

  async #enqueue(
    { orgId }: Scope,
    turnId: string,
    dedupeKey: string,
    runAt: Date,
    now: Date,
    tx: Tx,
  ): Promise<void> {
    const job = { kind: EXTRACT_JOB, dedupeKey, orgId, payload: { turnId }, runAt };
    await this.#deps.queue.enqueue(job, now, tx);
  }
}

function earlier(a: Date, b: Date): Date {
  return a <= b ? a : b;
}

function later(a: Date, b: Date): Date {
  return a >= b ? a : b;
}
