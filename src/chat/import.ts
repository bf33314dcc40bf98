import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import type { Newcomers } from "../users/newcomers.ts";
import type { Person } from "../users/person.ts";
import type { ImportedRow, ImportRepository } from "./import-repository.ts";
import {
  compareVersions,
  type ImportedMessage,
  type ImportOutcome,
  type MessageImport,
  type MessagesImported,
} from "./imported.ts";
import { Intake, type IntakeDependencies } from "./intake.ts";
import { optsOut } from "./opt-out.ts";

export interface ImportDependencies extends IntakeDependencies {
  readonly imports: ImportRepository;
  readonly newcomers: Newcomers;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/**
 * Archives what was said before. History is read, never acted on: it belongs to no turn, nothing is learned from it or
 * forwarded, and the job indexes it for search in the background.
 */
export class ChatImport {
  readonly #deps: ImportDependencies;
  readonly #intake: Intake;

  constructor(deps: ImportDependencies) {
    this.#deps = deps;
    this.#intake = new Intake(deps);
  }

  /**
   * Archives a batch in a few statements, whatever its size; the same batch again changes nothing. Of several messages
   * with one id the first that was edited last counts.
   *
   * @throws AppError FORBIDDEN for all but admins without pins
   */
  async messages(principal: Principal, batch: MessageImport): Promise<MessagesImported> {
    requireAdmin(principal);
    return this.#deps.transactions.tenant(principal, async (tx) => {
      const senders = batch.messages.flatMap(({ sender }) => sender?.externalId ?? []);
      if (!batch.dryRun)
        await this.#deps.newcomers.keepUnlinked(principal, batch.channel, senders, tx);
      const latest = latestById(batch.messages);
      const found = await this.#deps.platform.find(principal, batch, [...latest.keys()], tx);
      const archived = new Map(found.map((version) => [version.platformMessageId, version]));
      const outcomes = new Map<string, ImportOutcome>();
      const fresh: ImportedMessage[] = [];
      const changed: ImportedMessage[] = [];
      for (const [id, message] of latest) {
        const version = archived.get(id);
        const outcome = version ? compareVersions(version, message) : "new";
        outcomes.set(id, outcome);
        if (outcome === "new") fresh.push(message);
        if (outcome === "changed") changed.push(message);
      }
      if (batch.update && !batch.dryRun) {
        const owners = changed.flatMap((one) => archived.get(one.platformMessageId)?.userId ?? []);
        await this.#update(principal, batch, changed, owners, tx);
        for (const { platformMessageId: id } of changed) outcomes.set(id, "updated");
      }
      const { people, newPeople } = await this.#people(principal, batch, fresh, tx);
      if (!batch.dryRun) {
        const rows = fresh.map((message) => this.#row(batch, message, people));
        const inserted = new Set(await this.#deps.imports.insert(principal, rows, tx));
        for (const { platformMessageId: id } of fresh)
          if (!inserted.has(id)) outcomes.set(id, "present");
        await this.#record(principal, batch, [...outcomes.values()], tx);
      }
      return {
        outcomes: batch.messages.map((message) => {
          const { platformMessageId: id } = message;
          return latest.get(id) === message ? (outcomes.get(id) ?? "present") : "present";
        }),
        newPeople,
      };
    });
  }

  /** Of what came in or was changed: nothing where the whole batch was here. */
  async #record(
    by: Principal,
    { channel, account }: MessageImport,
    outcomes: readonly ImportOutcome[],
    tx: Tx,
  ): Promise<void> {
    const [added = 0, updated = 0] = ["new", "updated"].map(
      (wanted) => outcomes.filter((outcome) => outcome === wanted).length,
    );
    if (added + updated === 0) return;
    const subject = { subjectKind: "import", subjectId: `${channel}:${account}` } as const;
    const event = { actor: by.keyId, action: "import.messages", reason: null };
    await this.#deps.audit.record(by, { ...event, ...subject, details: { added, updated } }, tx);
  }

  /** One by one, like edits that a platform delivers: facts learned from the earlier words go. */
  async #update(
    { orgId }: Principal,
    { channel, account }: MessageImport,
    changed: readonly ImportedMessage[],
    owners: readonly string[],
    tx: Tx,
  ): Promise<void> {
    const { index, clock } = this.#deps;
    const receivedAt = clock();
    const update = {
      ...{ orgId, channel, account, receivedAt, autoApprove: false },
      // What was said long ago is neither told to the agent runtime nor learned from.
      ...{ forward: false, learn: false },
    };
    // All at once and in one order: two imports of the same people could wait for each other.
    await index.holdPeople(update, owners, tx);
    for (const { editedAt, sender: _, ...message } of changed) {
      const edited = { ...message, ...(editedAt && { editedAt }) };
      await this.#intake.edit({ ...update, dedupeKey: "", actions: [] }, edited, tx);
    }
  }

  async #people(principal: Principal, batch: MessageImport, messages: ImportedMessage[], tx: Tx) {
    const { newcomers } = this.#deps;
    const senders = new Map<string, NonNullable<ImportedMessage["sender"]>>();
    for (const { sender } of messages) {
      // What is said to somebody may not tell their name.
      if (sender && !senders.get(sender.externalId)?.firstName)
        senders.set(sender.externalId, sender);
    }
    const ids = [...senders.keys()];
    const known = await newcomers.known(principal, batch.channel, ids, tx);
    const missing = [...senders.values()].filter(({ externalId }) => !known.has(externalId));
    const status = batch.approve ? "approved" : "pending";
    const made = batch.dryRun
      ? new Map<string, Person>()
      : await newcomers.add(principal, batch.channel, missing, status, tx);
    return {
      people: new Map([...known, ...made]),
      newPeople: missing.map(({ externalId }) => externalId),
    };
  }

  #row(
    { channel, account }: MessageImport,
    message: ImportedMessage,
    people: ReadonlyMap<string, Person>,
  ): ImportedRow {
    const { sender, optedOut: repeats, payload, editedAt = null, ...row } = message;
    const person = sender && people.get(sender.externalId);
    const optedOut = Boolean(repeats) || (row.direction === "inbound" && optsOut(row.text));
    return {
      ...row,
      channel,
      account,
      userId: person?.userId ?? null,
      identityId: person?.identityId ?? null,
      payload: JSON.stringify(payload),
      optedOut,
      // What is not searched would only keep the job busy.
      searchDue: Boolean(row.text && person) && !optedOut,
      archivedAt: this.#deps.clock(),
      editedAt,
    };
  }
}

function latestById(messages: readonly ImportedMessage[]): Map<string, ImportedMessage> {
  const latest = new Map<string, ImportedMessage>();
  for (const message of messages) {
    const other = latest.get(message.platformMessageId);
    if (!other || editOf(message) > editOf(other)) latest.set(message.platformMessageId, message);
  }
  return latest;
}

function editOf({ editedAt }: ImportedMessage): number {
  return editedAt?.getTime() ?? 0;
}
