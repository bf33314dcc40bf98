import { isAdmin, type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { Ledger } from "../erasure/ledger.ts";
import { AppError } from "../errors.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import type { ArchiveRepository, ArchiveRow, Stretch, Whose } from "./archive-repository.ts";
import {
  type ArchivedEntry,
  type ArchiveMatches,
  type ArchivePage,
  type ArchiveQuery,
  type ArchiveSearch,
  archivedEntry,
  FOUND_AT_MOST,
  type MessageInContext,
  type NobodyQuery,
} from "./archived.ts";
import { readBefore, writeCursor } from "./cursor.ts";
import { type ErasingDependencies, eraseTraces } from "./erasing.ts";
import type { ArchivedMessage, MessageRepository } from "./message-repository.ts";
import { noteOfDeletion } from "./posted.ts";

/** Messages shown before and after the one that is looked at. */
const AROUND = 10;
const LAST_DAY = "9999-12-31";
const DAY_MS = 86_400_000;

export interface ArchiveDependencies extends ErasingDependencies {
  readonly archive: ArchiveRepository;
  readonly messages: MessageRepository;
  readonly users: UserService;
  readonly audit: AuditService;
  /** The chain of what was erased. */
  readonly erasures: Pick<Ledger, "note">;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** The chat archive as people look through it: within the key's pins, messages of nobody for admins. */
export class ChatArchive {
  readonly #deps: ArchiveDependencies;

  constructor(deps: ArchiveDependencies) {
    this.#deps = deps;
  }

  /**
   * A person's messages on every channel, both directions, newest first.
   *
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins
   */
  of(principal: Principal, { userId, ...page }: ArchiveQuery): Promise<ArchivePage> {
    const { archive, users, transactions } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findWithin(principal, userId, tx);
      const stretch = stretchOf(person.userId, page);
      const rows = await archive.of(principal, person.userId, stretch, tx);
      return this.#page(principal, person.userId, rows, page.limit, tx);
    });
  }

  /** What no person said, newest first: channel posts, and what could not be read. @throws AppError FORBIDDEN */
  ofNobody(principal: Principal, page: NobodyQuery): Promise<ArchivePage> {
    requireAdmin(principal);
    const { archive, transactions } = this.#deps;
    // A cursor is bound to whose messages it goes through: nobody's are the org's.
    const { orgId } = principal;
    return transactions.tenant(principal, async (tx) => {
      const rows = await archive.ofNobody(principal, stretchOf(orgId, page), tx);
      return this.#page(principal, orgId, rows, page.limit, tx);
    });
  }

  /**
   * The messages of a person that have some of these words, best first. What the person kept out is not in the index.
   *
   * @throws AppError as `of`
   */
  search(
    principal: Principal,
    { userId, search, offset, limit }: ArchiveSearch,
  ): Promise<ArchiveMatches> {
    const { users, index, transactions } = this.#deps;
    const { orgId } = principal;
    const end = Math.min(offset + limit, FOUND_AT_MOST);
    return transactions.tenant(principal, async (tx) => {
      const person = await users.findWithin(principal, userId, tx);
      const scope = { name: "user", orgId, userId: person.userId } as const;
      const { messages } = await index.scopes([scope], [], tx);
      const { hits } = await index.match(messages, search, FOUND_AT_MOST, tx);
      // What is found by the message before it alone has none of the words.
      const own = hits
        .filter(({ own, related }) => own + related > 0)
        .sort((a, b) => b.own + b.related - a.own - a.related);
      const ids = own.slice(offset, end).map(({ documentId }) => documentId);
      const entries = await this.#entries(principal, ids, tx);
      return { messages: entries, nextOffset: own.length > end ? end : null };
    });
  }

  /**
   * A message, what was said around it in its conversation, and what was learned from it. A key of one person is shown
   * what that person said and was told, whoever else speaks there.
   *
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins, and for messages of nobody unless by an admin
   */
  message(principal: Principal, messageId: string): Promise<MessageInContext> {
    const { archive, facts, transactions } = this.#deps;
    const { pins } = principal;
    const mayReadAll = isAdmin(principal);
    return transactions.tenant(principal, async (tx) => {
      const found = await this.#find(principal, messageId, tx);
      const whose: Whose =
        pins.userId !== undefined ? { userId: pins.userId } : mayReadAll ? "all" : "people";
      const beside = (side: "before" | "after") =>
        archive.beside(principal, found, side, { whose, limit: AROUND }, tx);
      const before = (await beside("before")).reverse();
      const after = await beside("after");
      const entries = await this.#entries(principal, [...before, found.id, ...after], tx);
      const at = entries.findIndex(({ id }) => id === found.id);
      const message = entries[at];
      if (!message) throw noSuchMessage();
      const { facts: learned, mayErase } = await facts.learnedFrom(principal, found.id, tx);
      return {
        message: { ...message, text: found.text, isClipped: false },
        before: entries.slice(0, at),
        after: entries.slice(at + 1),
        facts: learned,
        mayDelete: mayErase,
        ...(mayReadAll && { payload: JSON.parse(found.payload) as unknown }),
      };
    });
  }

  /**
   * Erases a message with its earlier versions, and what was learned from it alone; the agent runtime is told.
   *
   * @returns how many statements of facts went with it
   * @throws AppError as `message`; FORBIDDEN where something was learned from it that the key may not delete
   */
  delete(
    principal: Principal,
    messageId: string,
    reason: string | null,
  ): Promise<{ deleted: true; statements: number }> {
    const { archive, chat, facts, turns, audit, transactions, clock } = this.#deps;
    return transactions.tenant(principal, async (tx) => {
      const { turnId, userId } = await this.#hold(principal, messageId, tx);
      // Before it is asked what was learned: an extraction of the turn ends before, or finds the message gone.
      if (turnId !== null) await turns.deleted(principal, [turnId], tx);
      const { mayErase } = await facts.learnedFrom(principal, messageId, tx);
      if (!mayErase) throw notTheirs();
      const erased = await archive.delete(principal, messageId, tx);
      if (!erased) throw noSuchMessage();
      const receivedAt = clock();
      const { channel, account, platformMessageId } = erased;
      if (platformMessageId !== null) {
        const note = noteOfDeletion({ channel, account, id: platformMessageId });
        await chat.noteUpdate(principal, { ...note, receivedAt }, tx);
      }
      const update = { orgId: principal.orgId, channel, account, receivedAt };
      const owners = userId === null ? [] : [userId];
      const statements = await eraseTraces(this.#deps, update, [erased], owners, tx);
      const subject =
        userId === null
          ? ({ subjectKind: "message", subjectId: messageId } as const)
          : ({ subjectKind: "user", subjectId: userId } as const);
      const event = { actor: principal.keyId, action: "message.deleted", ...subject, reason };
      await audit.record(principal, { ...event, details: { messageId, statements } }, tx);
      const deleted = { chat_messages: 1, facts_from_messages: statements };
      const gone = { kind: "message", subjectId: messageId, ids: [messageId], deleted } as const;
      await this.#deps.erasures.note(principal, principal, gone, tx);
      return { deleted: true, statements };
    });
  }

  /** The message, when nobody else writes its person's messages any more. A link may have moved it while this waited. */
  async #hold(principal: Principal, messageId: string, tx: Tx): Promise<ArchivedMessage> {
    let held: string | null = null;
    for (;;) {
      const found = await this.#find(principal, messageId, tx);
      if (found.userId === held) return found;
      held = found.userId;
      if (held !== null) await this.#deps.index.holdPeople(principal, [held], tx);
    }
  }

  async #find(principal: Principal, messageId: string, tx: Tx): Promise<ArchivedMessage> {
    const { pins } = principal;
    const found = isUuid(messageId) && (await this.#deps.messages.find(principal, messageId, tx));
    if (!found) throw noSuchMessage();
    const isTheirs =
      found.userId === null ? isAdmin(principal) : (pins.userId ?? found.userId) === found.userId;
    if (!isTheirs) throw noSuchMessage();
    return found;
  }

  async #page(
    principal: Principal,
    whose: string,
    rows: readonly ArchiveRow[],
    limit: number,
    tx: Tx,
  ): Promise<ArchivePage> {
    const shown = rows.slice(0, limit);
    const oldest = shown.at(-1);
    return {
      messages: await this.#withRevisions(principal, shown, tx),
      nextBefore: rows.length > limit && oldest ? writeCursor(whose, oldest) : null,
    };
  }

  /** In the order of the ids. */
  async #entries(principal: Principal, ids: readonly string[], tx: Tx): Promise<ArchivedEntry[]> {
    if (ids.length === 0) return [];
    const rows = await this.#deps.archive.withIds(principal, ids, tx);
    rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    return this.#withRevisions(principal, rows, tx);
  }

  async #withRevisions(
    principal: Principal,
    rows: readonly ArchiveRow[],
    tx: Tx,
  ): Promise<ArchivedEntry[]> {
    const edited = rows.filter(({ editedAt }) => editedAt !== null).map(({ id }) => id);
    const revisions =
      edited.length > 0 ? await this.#deps.archive.revisions(principal, edited, tx) : [];
    return rows.map((row) => archivedEntry(row, revisions));
  }
}

function stretchOf(whose: string, { day, before, limit }: NobodyQuery): Stretch {
  const from = day === undefined ? undefined : new Date(`${day}T00:00:00Z`);
  // No message is later than the last day, and the database reads no later one.
  const end = from && day !== LAST_DAY ? { sentAt: new Date(from.getTime() + DAY_MS) } : undefined;
  return { from, before: before === undefined ? end : readBefore(whose, before), limit: limit + 1 };
}

function noSuchMessage(): AppError {
  return new AppError("NOT_FOUND", "no message has this id");
}

function notTheirs(): AppError {
  return new AppError("FORBIDDEN", "something was learned from it that this key may not delete", {
    hint: "Ask somebody who holds an admin key.",
  });
}
